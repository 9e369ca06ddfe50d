#include "actors/home_on_lanes.hpp"

#include <utility>

#include "actors/timed_placement.hpp"
#include "actors/waiting_for.hpp"
#include "libdag/keeper/admission.hpp"

namespace dag {
namespace {

/// In the words of the placer.
LifeLoad placing_load(Life life, const LoadSummary& load) {
  LifeLoad known{life, devices_of(life.process, load), 0, {0, load.tasks_ready}, Duration{0}};
  for (const DeviceLoad& device : load.devices) {
    known.lanes += device.lanes;
    known.queue.lanes_free += device.lanes_free;
    known.backlog += device.backlog;
  }
  return known;
}

}  // namespace

std::unique_ptr<HomeOnLanes> HomeOnLanes::make(HomeOptions options,
                                               const std::shared_ptr<const JobPlan>& plan, LanesPort& lanes,
                                               EventSink& records, const Ports& ports) {
  auto shard = std::make_shared<LaneShard>(plan->representation, lanes.count());
  shard->job = plan->job;
  shard->epoch = options.epoch;
  auto finish = std::make_unique<FinishPlacer>(options.seed, [&lanes] {
    return all_busy_for(static_cast<std::uint32_t>(lanes.count()), running_for(lanes));
  });
  FinishPlacer& placer = *finish;
  std::unique_ptr<HomePlacement> placement = std::move(finish);
  if (ports.scheduling) {
    placement = std::make_unique<TimedPlacement>(
        std::move(placement), [&process = ports.process] { return process.now(); },
        [&scheduling = *ports.scheduling](Duration took) { scheduling.placed(took); });
  }
  return std::unique_ptr<HomeOnLanes>(new HomeOnLanes(std::move(options), plan, std::move(shard), lanes,
                                                      records, std::move(placement), placer));
}

HomeOnLanes::HomeOnLanes(HomeOptions options, const std::shared_ptr<const JobPlan>& plan,
                         std::shared_ptr<LaneShard> shard, LanesPort& lanes, EventSink& records,
                         std::unique_ptr<HomePlacement> placement, FinishPlacer& placer)
    : HomeHere(std::move(options), plan, shard, records, std::move(placement)),
      lanes_(lanes),
      shard_(std::move(shard)),
      placer_(&placer) {}

HomeOnLanes::~HomeOnLanes() {
  say_ahead({});
  lanes_.retire(std::move(shard_));
}

void HomeOnLanes::on_loads(const mail::Loads& loads) {
  std::vector<LifeLoad> known;
  for (const auto& [life, load] : *loads.of) known.push_back(placing_load(life, load));
  placer_->on_loads(std::move(known));
}

void HomeOnLanes::look_at_lanes() {
  placer_->on_queue(home.options().self, {.lanes_free = lanes_.idle(),
                                          .tasks_ready = static_cast<std::uint32_t>(lanes_.queued())});
}

void HomeOnLanes::say_ahead() { say_ahead(home.spawned_ahead()); }

void HomeOnLanes::say_ahead(SpawnLoad ahead) {
  lanes_.spawn_credits()->change(shard_->job, std::exchange(ahead_, ahead), ahead);
}

}  // namespace dag
