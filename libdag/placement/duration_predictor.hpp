#pragma once
// How long a task will run, from how long others of its class ran on that kind of device. Decides the
// estimate; which tasks form a class, and what the estimate is used for, is the caller's.

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "libdag/base/time.hpp"

namespace dag {

/// Exponentially weighted mean and variance (T. Finch: Incremental calculation of weighted mean and variance,
/// 2009).
class DurationEstimate {
 public:
  void observe(Duration ran);
  std::uint64_t observations() const { return observations_; }
  Duration mean() const { return Duration(static_cast<Duration::rep>(mean_ns_)); }
  /// Zero until there are two observations.
  Duration deviation() const { return Duration(static_cast<Duration::rep>(std::sqrt(variance_ns2_))); }
  /// What most runs stay below: for "4 to 11 s" and for noticing what hangs.
  Duration at_most() const { return mean() + 2 * deviation(); }

 private:
  double mean_ns_ = 0;
  double variance_ns2_ = 0;
  std::uint64_t observations_ = 0;
};

/// Tasks that share a name form a class; whoever interns names hands out the numbers, from 0.
struct TaskClass {
  std::uint32_t index = 0;
  auto operator<=>(const TaskClass&) const = default;
};
/// Kinds of devices, numbered from 0 as they are registered.
struct KindIndex {
  std::uint32_t index = 0;
  auto operator<=>(const KindIndex&) const = default;
};

/// One estimate per class and kind. Looking one up is an index, for lanes ask for each task they place.
/// Bounded: classes and kinds beyond the limits are not learned (and have no estimate).
class DurationPredictor {
 public:
  static constexpr std::uint32_t classes_max = 65'536;
  static constexpr std::uint32_t kinds_max = 16;

  void observe(TaskClass task_class, KindIndex kind, Duration ran);
  /// Empty as long as nothing of that class ran on that kind.
  std::optional<DurationEstimate> estimate(TaskClass task_class, KindIndex kind) const;
  /// What the user said of it (`.takes(2s)`) stands until something was seen.
  std::optional<Duration> predict(TaskClass task_class, KindIndex kind,
                                  std::optional<Duration> stated = {}) const;

 private:
  std::vector<DurationEstimate> estimates_;  // kinds_max per class.
};

}  // namespace dag
