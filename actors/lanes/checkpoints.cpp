#include "actors/lanes/checkpoints.hpp"

#include "actors/lanes/tick_clock.hpp"
#include "libdag/base/saturating.hpp"
#include "libdag/outputs/digest.hpp"
#include "libdag/supervision/checkpoint_interval.hpp"

namespace dag {

LaneCheckpoints::LaneCheckpoints(const Attempt& attempt, std::function<void(Saved&&)> keep)
    : attempt_(attempt), keep_(std::move(keep)), due_at_(next(lane_now())) {}

Instant LaneCheckpoints::next(Instant from) const {
  const Checkpointing& told = *attempt_.checkpoints;
  return later(from, told.every > Duration{0}
                         ? told.every
                         : checkpoint_interval(cost_.value_or(assumed_save_cost), told.lost_after));
}

bool LaneCheckpoints::due() const { return lane_now() >= due_at_; }

void LaneCheckpoints::take(const std::function<Blob()>& encode) {
  const Instant began = lane_now();
  Saved saved{encode(), 0};
  saved.digest = digest_of(saved.bytes);
  keep_(std::move(saved));
  const Instant ended = lane_now();
  // A save that met a page fault or another thread does not predict the cost of the next: average.
  cost_ = cost_ ? (*cost_ * 3 + (ended - began)) / 4 : ended - began;
  due_at_ = next(ended);
}

}  // namespace dag
