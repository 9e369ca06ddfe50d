#pragma once
// Detects that this node makes no progress. A node that answers its peers' pings and is late in all else is
// noticed only by itself: gray failure (Huang et al., HotOS 2017). Decides when a node calls itself sick, and
// well again; a sick node leads no job's record that another node can lead, and takes no new jobs.

#include <algorithm>
#include <optional>

#include "libdag/base/time.hpp"

namespace dag {

class Progress {
 public:
  /// A node that is later than this is as bad a leader as none.
  explicit Progress(Duration late_after) : late_after_(late_after) {}

  /// Takes the worst present delay: how long the disk has taken nothing, the actors have not answered, or how
  /// much later than intended this was called. To be called often; the interval does not matter.
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

  /// A single delay is an accident: a node is sick after so many late windows in a row, and well after as
  /// many good ones.
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
