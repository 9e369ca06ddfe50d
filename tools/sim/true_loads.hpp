#pragma once
// The placer of real homes, with true loads and durations: for jobs whose tasks take so different times that
// the choice of process matters.

#include <functional>
#include <utility>

#include "libdag/home/finish_placer.hpp"

namespace dag::sim {

struct TrueLoadsOptions {
  std::uint64_t seed = 0;
  /// Outputs here have eight bytes; where it is asked whether a row is longer under way than it waits, each
  /// counts as so many.
  std::uint64_t times_larger = 1;
  std::function<Duration()> busy_for;
  std::function<std::vector<LifeLoad>()> loads;
};

class TrueLoads final : public HomePlacement {
 public:
  explicit TrueLoads(TrueLoadsOptions options)
      : options_(std::move(options)), placer_(options_.seed, options_.busy_for) {}

  Life place_actor(std::uint32_t actor, const std::vector<Life>& lives,
                   const std::vector<std::uint32_t>& actors_at, const Policy& policy) override {
    return placer_.place_actor(actor, lives, actors_at, policy);
  }
  PlacedAttempt place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                              Life self) override {
    placer_.on_loads(options_.loads());
    return placer_.place_attempt(attempt, lives, self);
  }
  bool wants_to_place(const std::string& name, const Policy& policy, bool inputs_here) const override {
    return placer_.wants_to_place(name, policy, inputs_here);
  }
  bool keeps(const std::vector<PlacementInput>& inputs, Life thief, Life self) override {
    placer_.on_loads(options_.loads());
    std::vector<PlacementInput> larger = inputs;
    for (PlacementInput& input : larger) input.size_bytes *= options_.times_larger;
    return placer_.keeps(larger, thief, self);
  }
  void ran(const std::string& name, Duration ran, bool bound) override { placer_.ran(name, ran, bound); }

  std::optional<Duration> mean_run() const { return placer_.mean_run(); }

 private:
  TrueLoadsOptions options_;
  FinishPlacer placer_;
};

}  // namespace dag::sim
