#pragma once
// Whether this node gets anywhere. One that answers its peers' pings and is late in all else is found by
// nobody but itself: gray failure (Huang et al., HotOS 2017). Decides when a node calls itself sick, and well
// again; what follows is that it leads no job's record that another node can, and takes no new jobs.

#include <algorithm>
#include <optional>

#include "libdag/base/time.hpp"

namespace dag {

class Progress {
 public:
  /// Who is late by more than this is as bad a leader as none.
  explicit Progress(Duration late_after) : late_after_(late_after) {}

  /// How late it is now in what is worst: for how long its disk has taken nothing, its actors have not
  /// answered, or how much later than it wanted this was called. As often as is convenient.
  void look(Duration late, Instant now) {
    worst_ = std::max(worst_, late);
    if (began_ && now - *began_ < window) return;
    const bool is_late = began_ && worst_ > late_after_;
    began_ = now;
    worst_ = Duration{0};
    turns_ = is_late == sick_ ? 0 : turns_ + 1;
    if (turns_ < turns_until_believed) return;
    sick_ = is_late;
    turns_ = 0;
  }
  bool sick() const { return sick_; }

  /// Once late is an accident: so many times in a row it has to be, each within a window of its own; and as
  /// many times not, until it is well.
  static constexpr int turns_until_believed = 3;
  static constexpr Duration window = std::chrono::seconds(1);

 private:
  const Duration late_after_;
  std::optional<Instant> began_;
  Duration worst_{0};
  int turns_ = 0;
  bool sick_ = false;
};

}  // namespace dag
