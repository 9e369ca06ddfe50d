#pragma once
// The implementation behind Context::checkpoint: when a save is due, and where a saved state goes.

#include <functional>
#include <optional>

#include "dag/context.hpp"
#include "libdag/job/attempt.hpp"

namespace dag {

/// Made for each run of a kernel; used on the lane's thread.
class LaneCheckpoints final : public detail::KernelCheckpoints {
 public:
  /// `keep` gets each state; it must not block. `attempt` lives longer.
  LaneCheckpoints(const Attempt& attempt, std::function<void(Saved&&)> keep);
  bool due() const override;
  void take(const std::function<Blob()>& encode) override;
  const Blob& saved() const override { return attempt_.restore_from; }

 private:
  Instant next(Instant from) const;

  const Attempt& attempt_;
  const std::function<void(Saved&&)> keep_;
  std::optional<Duration> cost_;
  Instant due_at_;
};

}  // namespace dag
