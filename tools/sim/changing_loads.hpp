#pragma once
// The placer of real homes, with drawn loads and durations: jobs must end as they should, however wrong or
// old the gossip is.

#include "libdag/home/finish_placer.hpp"

namespace dag::sim {

class ChangingLoads final : public HomePlacement {
 public:
  explicit ChangingLoads(std::uint64_t seed) : random_(seed), placer_(seed) {}

  Life place_actor(std::uint32_t actor, const std::vector<Life>& lives,
                   const std::vector<std::uint32_t>& actors_at, const Policy& policy) override {
    return placer_.place_actor(actor, lives, actors_at, policy);
  }
  PlacedAttempt place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                              Life self) override {
    if (random_.chance(0.3)) tell(lives);
    return placer_.place_attempt(attempt, lives, self);
  }
  bool wants_to_place(const std::string& name, const Policy& policy, bool inputs_here) const override {
    return placer_.wants_to_place(name, policy, inputs_here);
  }
  std::vector<event::Candidate> consider(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                         Life self) override {
    return placer_.consider(attempt, lives, self);
  }
  void ran(const std::string& name, Duration, bool bound) override {
    if (bound) return;
    // From microseconds, which stay, to minutes.
    placer_.ran(name, Duration(1000) * static_cast<Duration::rep>(1ull << random_.below(26)));
  }

 private:
  /// Tells the loads of most lives that run the job; some of the loads are of lives that are over.
  void tell(const std::vector<Life>& lives) {
    std::vector<LifeLoad> loads;
    for (Life life : lives) {
      if (random_.chance(0.1)) continue;
      if (random_.chance(0.1)) --life.incarnation.value;
      const auto lanes = 1 + static_cast<std::uint32_t>(random_.below(4));
      LifeLoad load{life, {life.process, {}}, lanes, {}, Duration{0}};
      load.queue.lanes_free = static_cast<std::uint32_t>(random_.below(lanes + 1));
      load.queue.tasks_ready = random_.chance(0.5) ? 0 : static_cast<std::uint32_t>(random_.below(200));
      if (random_.chance(0.2)) load.backlog = std::chrono::milliseconds(random_.below(10'000));
      constexpr std::uint64_t memory = 1ull << 40;
      load.devices.devices.push_back({"cpu", {lanes, 0, memory}, {load.queue.lanes_free, 0, memory}});
      loads.push_back(std::move(load));
    }
    placer_.on_loads(std::move(loads));
  }

  Random random_;
  FinishPlacer placer_;
};

}  // namespace dag::sim
