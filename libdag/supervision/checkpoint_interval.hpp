#pragma once
// How often it pays to save the state of what runs.

#include <chrono>
#include <cstddef>

#include "libdag/base/time.hpp"

namespace dag {

/// How long to work between two saves that hold up the work for `cost` each, when it is lost after
/// `lost_after` on average: sqrt(2 * cost * lost_after) (J. W. Young, "A first order approximation to the
/// optimum checkpoint interval", CACM 17(9), 1974; J. T. Daly, FGCS 22(3), 2006, whose higher orders matter
/// only where that is near the cost), but never so short that saving takes more than 2 % of the time.
Duration checkpoint_interval(Duration cost, Duration lost_after);

/// Before a save was measured.
constexpr Duration assumed_save_cost = std::chrono::milliseconds(10);

/// When to save what can be saved at given moments only: job actors between two calls.
class SaveTimes {
 public:
  /// Counts from `now` on.
  void begin(Instant now) { saved_at_ = now; }
  /// It held up the work for so long. Of saves at one time the longest counts; of what came before, half.
  void took(Duration cost);
  void saved(Instant now);
  /// `every`: as long as is to be waited; 0: as long as pays, when it is lost after `lost_after` on average.
  bool due(Duration every, Duration lost_after, Instant now) const;

 private:
  Instant saved_at_;
  Duration before_ = assumed_save_cost, last_{0};
};

/// How often processes of a job are lost, as far as somebody who watches them knows. Before anything was seen
/// it says one hour, which weighs as much as one loss.
class Losses {
 public:
  /// `lost` of `watched` processes have gone since the last word; from the first word on time counts.
  void note(std::size_t lost, std::size_t watched, Instant now);
  /// Of one process.
  Duration mean_time(Instant now, std::size_t watched) const;

 private:
  bool began_ = false;
  Instant since_;
  double seconds_ = 3600;  ///< of all processes together
  double lost_ = 1;
};

}  // namespace dag
