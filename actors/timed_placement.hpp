#pragma once
// A placement that measures how long its choices take: a machine has no clock, the actor around it has.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libdag/home/home.hpp"

namespace dag {

class TimedPlacement final : public HomePlacement {
 public:
  /// `placed` gets the duration of each choice between several processes.
  TimedPlacement(std::unique_ptr<HomePlacement> of, std::function<Instant()> now,
                 std::function<void(Duration)> placed)
      : of_(std::move(of)), now_(std::move(now)), placed_(std::move(placed)) {}

  Life place_actor(std::uint32_t actor, const std::vector<Life>& lives,
                   const std::vector<std::uint32_t>& actors_at, const Policy& policy) override {
    return of_->place_actor(actor, lives, actors_at, policy);
  }
  PlacedAttempt place_attempt(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                              Life self) override {
    if (lives.size() < 2) return of_->place_attempt(attempt, lives, self);
    const Instant began = now_();
    PlacedAttempt placed = of_->place_attempt(attempt, lives, self);
    placed_(now_() - began);
    return placed;
  }
  bool wants_to_place(const std::string& name, const Policy& policy, bool inputs_here) const override {
    return of_->wants_to_place(name, policy, inputs_here);
  }
  bool keeps(const std::vector<PlacementInput>& inputs, Life thief, Life self) override {
    return of_->keeps(inputs, thief, self);
  }
  void ran(const std::string& name, Duration ran, bool bound) override { of_->ran(name, ran, bound); }
  std::optional<Duration> usual(const std::string& name, const Policy& policy) const override {
    return of_->usual(name, policy);
  }
  std::optional<RunEstimate> estimate(const std::string& name, const Policy& policy) const override {
    return of_->estimate(name, policy);
  }
  std::optional<RunEstimate> estimate_of_all() const override { return of_->estimate_of_all(); }
  Status possible(const std::string& name, const Policy& policy, const std::vector<Life>& lives) override {
    return of_->possible(name, policy, lives);
  }
  std::vector<event::Candidate> consider(const AttemptToPlace& attempt, const std::vector<Life>& lives,
                                         Life self) override {
    return of_->consider(attempt, lives, self);
  }

 private:
  const std::unique_ptr<HomePlacement> of_;
  const std::function<Instant()> now_;
  const std::function<void(Duration)> placed_;
};

}  // namespace dag
