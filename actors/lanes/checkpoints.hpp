#pragma once
// What a kernel that saves its state finds behind its Context: when it is time, and what becomes of a state.

#include <functional>

#include "dag/context.hpp"
#include "libdag/home/attempt.hpp"
#include "libdag/home/runner.hpp"

namespace dag {

/// One for each run of a kernel; on the lane's thread.
class LaneCheckpoints final : public detail::KernelCheckpoints {
 public:
  /// `keep` gets each state; it must not block. Outlived by both.
  LaneCheckpoints(const Attempt& attempt, const std::function<void(Saved&&)>& keep);
  bool due() const override;
  void take(const std::function<Blob()>& encode) override;
  const Blob& saved() const override { return attempt_.restore_from; }

  /// Before a save was measured nobody knows what one costs.
  static constexpr Duration first_after = std::chrono::seconds(1);

 private:
  const Attempt& attempt_;
  const std::function<void(Saved&&)>& keep_;
  Instant due_at_;
  std::optional<Duration> cost_;
};

}  // namespace dag
