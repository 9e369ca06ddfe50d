#pragma once
// Predicts how long a task will run, from durations of its class on that kind of device. The caller decides
// which tasks form a class, and what the estimate is used for.

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
  /// Upper end of most runs: for "4 to 11 s" and for noticing tasks that hang.
  Duration at_most() const { return mean() + 2 * deviation(); }

 private:
  double mean_ns_ = 0;
  double variance_ns2_ = 0;
  std::uint64_t observations_ = 0;
};

/// Tasks that share a name form a class; the interner of names numbers them from 0.
struct TaskClass {
  std::uint32_t index = 0;
  auto operator<=>(const TaskClass&) const = default;
};
/// Kinds of devices, numbered from 0 as they are registered.
struct KindIndex {
  std::uint32_t index = 0;
  auto operator<=>(const KindIndex&) const = default;
};

/// An estimate per class and kind. A look-up is an index, since lanes ask for each task they place. Bounded:
/// classes and kinds beyond the limits are not learned (and have no estimate).
class DurationPredictor {
 public:
  static constexpr std::uint32_t classes_max = 65'536;
  static constexpr std::uint32_t kinds_max = 16;

  void observe(TaskClass task_class, KindIndex kind, Duration ran);
  /// Empty as long as nothing of that class ran on that kind.
  std::optional<DurationEstimate> estimate(TaskClass task_class, KindIndex kind) const;
  /// The user's statement (`.takes(2s)`) counts until a run was seen.
  std::optional<Duration> predict(TaskClass task_class, KindIndex kind,
                                  std::optional<Duration> stated = {}) const;

 private:
  std::vector<DurationEstimate> estimates_;  // kinds_max per class.
};

}  // namespace dag
