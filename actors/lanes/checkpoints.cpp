#include "actors/lanes/checkpoints.hpp"

#include "libdag/outputs/digest.hpp"
#include "libdag/supervision/checkpoint_interval.hpp"

namespace dag {
namespace {

Instant now() { return Instant{std::chrono::steady_clock::now().time_since_epoch()}; }

}  // namespace

LaneCheckpoints::LaneCheckpoints(const Attempt& attempt, const std::function<void(Saved&&)>& keep)
    : attempt_(attempt), keep_(keep) {
  const Duration every = attempt.checkpoints->every;
  due_at_ = now() + (every > Duration{0} ? every : first_after);
}

bool LaneCheckpoints::due() const { return keep_ && now() >= due_at_; }

void LaneCheckpoints::take(const std::function<Blob()>& encode) {
  const Instant began = now();
  Saved saved{encode(), 0};
  saved.digest = digest_of(saved.bytes);
  keep_(std::move(saved));
  const Instant ended = now();
  // One that met a page fault or another thread is not what the next will cost.
  cost_ = cost_ ? (*cost_ * 3 + (ended - began)) / 4 : ended - began;
  const Duration every = attempt_.checkpoints->every;
  due_at_ =
      ended + (every > Duration{0} ? every : checkpoint_interval(*cost_, attempt_.checkpoints->lost_after));
}

}  // namespace dag
