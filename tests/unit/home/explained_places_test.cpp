// `dag explain` names places where a task could run, and placement chooses one of those: over random clusters
// and tasks.

#include <catch2/catch.hpp>

#include "libdag/home/finish_placer.hpp"

using namespace dag;

namespace {

constexpr std::uint64_t gibibyte = 1u << 30;

Life life(std::uint32_t process) { return {ProcessId{process}, Incarnation{1}}; }

struct RandomCluster {
  explicit RandomCluster(Random& random) {
    const auto count = static_cast<std::uint32_t>(1 + random.below(8));
    for (std::uint32_t process = 1; process <= count; ++process) {
      lives.push_back(life(process));
      const auto amount = [&](std::uint64_t limit) {
        return static_cast<std::uint32_t>(random.below(limit));
      };
      Amounts has{1 + amount(8), amount(3), (1 + random.below(32)) * gibibyte};
      Amounts free{amount(has.cpus + 1), amount(has.gpus + 1), random.below(has.memory_bytes + 1)};
      const std::uint32_t waiting = free.cpus > 0 ? 0 : amount(200);
      loads.push_back({lives.back(),
                       {lives.back().process, {{"cpu", has, free}}},
                       has.cpus,
                       {.lanes_free = free.cpus, .tasks_ready = waiting},
                       Duration{0}});
    }
  }
  std::vector<Life> lives;
  std::vector<LifeLoad> loads;
};

struct RandomTask {
  explicit RandomTask(Random& random, const RandomCluster& cluster) {
    policy.needs.cpus = static_cast<double>(1 + random.below(10));
    policy.needs.gpus = static_cast<std::uint32_t>(random.below(4));
    policy.needs.memory = random.below(40) * gibibyte;
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      const auto holder = cluster.lives[random.below(cluster.lives.size())].process;
      inputs.push_back({random.below(gibibyte), {holder}});
    }
  }
  AttemptToPlace attempt() const { return {TaskId{0, 5}, name, policy, inputs, true}; }
  std::string name = "train";
  Policy policy;
  std::vector<PlacementInput> inputs;
};

bool can_ever(const event::Candidate& candidate) {
  return candidate.misfit.find("never") == std::string::npos;
}

}  // namespace

TEST_CASE("explain and placement cannot disagree, and what is named as an obstacle is one") {
  std::uint64_t placed_elsewhere = 0, obstacles = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    RandomCluster cluster(random);
    const RandomTask task(random, cluster);
    FinishPlacer placer(seed);
    placer.on_loads(cluster.loads);
    if (random.chance(0.5)) placer.ran(task.name, std::chrono::milliseconds(1 + random.below(5000)));
    const Life self = cluster.lives[random.below(cluster.lives.size())];

    const auto said = placer.consider(task.attempt(), cluster.lives, self);
    REQUIRE(said.size() == cluster.lives.size());  // Every process is described.
    const PlacedAttempt placed = placer.place_attempt(task.attempt(), cluster.lives, self);
    const auto of = [&](ProcessId process) {
      return *std::find_if(said.begin(), said.end(), [&](const auto& one) { return one.process == process; });
    };

    // The row goes where explain said that it could, if it said that of anybody.
    const bool any = std::any_of(said.begin(), said.end(), can_ever);
    CHECK((!any || can_ever(of(placed.at.process))));
    placed_elsewhere += placed.at == self ? 0 : 1;
    // The candidates of the choice are described alike by explain, to the nanosecond.
    if (placed.why) {
      for (const event::Candidate& candidate : placed.why->candidates)
        CHECK(candidate == of(candidate.process));
    }

    // A process that cannot take the task can with the missing thing added, and no other verdict changes.
    for (std::size_t i = 0; i < cluster.loads.size(); ++i) {
      const ProcessId process = cluster.lives[i].process;
      if (of(process).misfit.empty()) continue;
      ++obstacles;
      std::vector<LifeLoad> loads = cluster.loads;
      Device& device = loads[i].devices.devices.front();
      for (const Misfit& misfit : misfits(needs_of(task.policy.needs), loads[i].devices)) {
        CHECK(of(process).misfit.find(to_string(misfit)) != std::string::npos);
        const auto wanted = static_cast<std::uint32_t>(misfit.wanted);
        const auto give = [](auto& has, auto amount) { has = std::max(has, amount); };
        if (misfit.what == Misfit::What::memory) {
          give(device.capacity.memory_bytes, misfit.wanted);
          give(device.free.memory_bytes, misfit.wanted);
        } else {
          give(misfit.what == Misfit::What::cpus ? device.capacity.cpus : device.capacity.gpus, wanted);
          give(misfit.what == Misfit::What::cpus ? device.free.cpus : device.free.gpus, wanted);
        }
      }
      FinishPlacer without(seed);
      without.on_loads(loads);
      for (const auto& now : without.consider(task.attempt(), cluster.lives, self)) {
        CHECK((now.process == process ? now.misfit.empty() : now.misfit == of(now.process).misfit));
      }
      // Where nobody could, it starts there.
      if (!any) CHECK(without.place_attempt(task.attempt(), cluster.lives, self).at.process == process);
    }
  }
  CHECK(placed_elsewhere > 200);
  CHECK(obstacles > 1000);
}
