// Faults of a cluster, as the seed draws them, and their end: at `calm_at` all is well again, and jobs that
// have begun must end.

#include <algorithm>
#include <numeric>

#include "tools/sim/actors/cluster.hpp"

namespace dag::sim {
namespace {

/// The others have made up for the loss of a copy by then.
constexpr Duration repaired_after = std::chrono::seconds(8);

/// All nodes know all others, so a new job has all its copies.
constexpr Duration found_each_other_after = std::chrono::milliseconds(700);

/// After this time all processes of a cancelled job have heard of that, under any leader.
constexpr Duration cancel_known_after = std::chrono::seconds(20);

}  // namespace

void Cluster::plan_faults() {
  const ClusterFaults& faults = options_.faults;
  plan(faults.workers_killed, [this] { kill_worker(); });
  plan(faults.nodes_crashed, [this] { crash(static_cast<std::uint32_t>(random_.below(seats_.size()))); });
  plan(faults.power_cuts, [this] {
    ledger_.saw("power cut");
    for (std::uint32_t index = 0; index < seats_.size(); ++index)
      events_.after(std::chrono::microseconds(random_.below(3000)), [this, index] { crash(index); });
  });
  plan(faults.cuts, [this] { cut(); });
  plan(faults.flaps, [this] { flap(); });
  plan(faults.pauses, [this] { pause(); });
  events_.at(Instant{faults.calm_at}, [this] { calm_down(); });
}

void Cluster::plan(std::uint32_t count, std::function<void()> what) {
  const ClusterFaults& faults = options_.faults;
  const auto span = static_cast<std::uint64_t>(std::max(faults.calm_at - faults.begin, Duration{1}).count());
  for (; count > 0; --count)
    events_.at(Instant{faults.begin} + Duration(static_cast<Duration::rep>(random_.below(span))), what);
}

/// Mostly short; now and then longer than anybody waits.
Duration Cluster::draw_pause() {
  const double dice = random_.unit();
  return std::chrono::microseconds(1000 + (dice < 0.4   ? random_.below(200'000)
                                           : dice < 0.8 ? random_.below(2'500'000)
                                                        : random_.below(12'000'000)));
}

SimProcess* Cluster::draw_process() {
  std::vector<SimProcess*> all;
  each_process([&](SimProcess& process) { all.push_back(&process); });
  return all.empty() ? nullptr : all[random_.below(all.size())];
}

void Cluster::start_node_after(Duration pause, std::uint32_t index) {
  events_.after(pause, [this, index] {
    if (!seats_[index].node) start_node(index);
  });
}

void Cluster::kill_worker() {
  std::vector<Life> begun;  // A process that has not joined yet is taken for a program that cannot be run.
  for (const auto& [life, worker] : workers_) {
    if (worker.process->begun()) begun.push_back(life);
  }
  if (begun.empty()) return;
  ledger_.saw("worker process killed");
  end_worker(begun[random_.below(begun.size())], {ProcessEnd::killed, "signal 9 (Killed)"});
}

/// True if no record lost a majority of its copies lately: each has three copies, all of them whole.
bool Cluster::may_lose_disk() const {
  const Instant now = events_.now();
  return seats_.size() >= 3 && options_.copies_wanted >= 3 &&
         std::all_of(seats_.begin(), seats_.end(),
                     [&](const Seat& seat) {
                       const bool whole = seat.incarnation == 1 || now - seat.up_since > repaired_after;
                       return seat.node && !seat.node->paused() && whole;
                     }) &&
         now - quiet_since_ > (cut_before_ ? repaired_after : found_each_other_after);
}

void Cluster::crash(std::uint32_t index) {
  if (!seats_[index].node) return;
  const bool lost = !options_.on_disk || random_.chance(options_.faults.disks_lost);
  if (lost && !may_lose_disk() && !options_.on_disk) return;
  const bool lose_disk = lost && may_lose_disk();
  ledger_.saw(lose_disk ? "node crashed, and its disk is lost" : "node crashed");
  crash_node(index, lose_disk);
  start_node_after(draw_pause(), index);
}

/// Cuts off one node's host, or half of the hosts; or one host does not hear the rest, or is not heard.
void Cluster::cut() {
  const std::uint64_t shape = random_.below(4);
  std::set<std::uint32_t> part{static_cast<std::uint32_t>(random_.below(seats_.size()))};
  for (std::uint32_t index = 0; shape == 1 && index < seats_.size(); ++index) {
    if (random_.chance(0.5)) part.insert(index);
  }
  // Another host may hear both parts, and be heard.
  const bool bridged = shape == 1 && forms_.chance(0.5);
  const auto bridge = static_cast<std::uint32_t>(bridged ? forms_.below(seats_.size()) : seats_.size());
  if (bridged) ledger_.saw("cut with a bridge");
  for (std::uint32_t one = 0; one < seats_.size(); ++one) {
    for (std::uint32_t other = 0; other < seats_.size(); ++other) {
      if (!part.contains(one) || part.contains(other) || one == bridge || other == bridge) continue;
      if (shape != 2) network_.cut({one}, {other});
      if (shape != 3) network_.cut({other}, {one});
    }
  }
  ledger_.saw("cut");
  cut_before_ = true;
  quiet_since_ = events_.now() + std::chrono::seconds(20);
  events_.after(draw_pause(), [this] {
    network_.mend();
    quiet_since_ = events_.now();
  });
}

void Cluster::flap() {
  SimProcess* const one = draw_process();
  SimProcess* const other = draw_process();
  if (one == nullptr || one == other) return;
  ledger_.saw("link lost");
  network_.flap(one->life(), other->life(), ledger_.planted == PlantedAround::link_forgets);
}

void Cluster::pause() {
  SimProcess* const process = draw_process();
  if (process == nullptr || process->paused()) return;
  ledger_.saw("process paused");
  process->pause();
  events_.after(draw_pause(), [this, life = process->life()] {
    each_process([&](SimProcess& there) {
      if (there.life() == life && there.paused()) there.resume();
    });
  });
}

/// I7: an answer to a client outlives the node that gave it.
void Cluster::on_cancelled(JobId job, Life by) {
  events_.at(std::max(events_.now(), Instant{options_.faults.calm_at}) + cancel_known_after,
             [this, job] { ledger_.cancelled(job); });
  if (cancels_.chance(0.5)) return;
  events_.after(Duration{0}, [this, by] {
    const std::uint32_t index = by.process.value;
    if (!seats_[index].node || seats_[index].node->life() != by) return;
    ledger_.saw("node crashed");
    crash_node(index, false);
    start_node_after(draw_pause(), index);
  });
}

void Cluster::calm_down() {
  network_.mend();
  each_process([](SimProcess& process) {
    if (process.paused()) process.resume();
  });
  for (std::uint32_t index = 0; index < seats_.size(); ++index) start_node_after(Duration{0}, index);
}

}  // namespace dag::sim
