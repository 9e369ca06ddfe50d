#pragma once
// The best interval between saves of running work.

#include <chrono>
#include <cstddef>

#include "libdag/base/time.hpp"

namespace dag {

/// Working time between two saves that hold up the work for `cost` each, when it is lost after `lost_after`
/// on average: sqrt(2 * cost * lost_after) (J. W. Young, "A first order approximation to the optimum
/// checkpoint interval", CACM 17(9), 1974; J. T. Daly, FGCS 22(3), 2006, whose higher orders matter only
/// where that is near the cost), but never so short that saving takes more than 2 % of the time.
Duration checkpoint_interval(Duration cost, Duration lost_after);

/// Assumed before a save was measured.
constexpr Duration assumed_save_cost = std::chrono::milliseconds(10);

/// Times to save state that can be saved at given moments only: job actors between two calls.
class SaveTimes {
 public:
  /// Counts from `now` on.
  void begin(Instant now) { saved_at_ = now; }
  /// Notes a save's cost. Among saves at one time the longest counts; older costs are halved.
  void took(Duration cost);
  void saved(Instant now);
  /// `every`: the interval; 0: the best one, when work is lost after `lost_after` on average.
  bool due(Duration every, Duration lost_after, Instant now) const;

 private:
  Instant saved_at_;
  Duration before_ = assumed_save_cost, last_{0};
};

/// How often processes of a job are lost, as seen by a watcher. The initial assumption, one loss per hour,
/// weighs as much as one loss.
class Losses {
 public:
  /// `lost` of `watched` processes have gone since the last call; time counts from the first call on.
  void note(std::size_t lost, std::size_t watched, Instant now);
  /// Mean time to loss of a single process.
  Duration mean_time(Instant now, std::size_t watched) const;

 private:
  bool began_ = false;
  Instant since_;
  double seconds_ = 3600;  ///< of all processes together
  double lost_ = 1;
};

}  // namespace dag
