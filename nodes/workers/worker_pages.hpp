#pragma once
// The pages that a node shares with its worker processes, one for each job that a process serves, and their
// sums.

#include <cstdint>
#include <map>
#include <mutex>

#include "actors/lanes/running_page.hpp"
#include "actors/lanes/tick_clock.hpp"
#include "libdag/base/time.hpp"
#include "libdag/link/frame_header.hpp"

namespace dag {

/// The activity of a node's worker processes.
struct WorkersNow {
  std::uint32_t processes = 0, lanes_running = 0;
  std::uint64_t queued = 0;  ///< tasks that wait for a lane, as last reported
  /// Time since their start, summed over their lanes, and the part of it inside of kernels.
  Duration lane_time{0}, busy{0};
  /// Includes processes that have ended: never decreases while the node lives.
  Duration busy_ever{0};
};

/// From any thread.
class WorkerPages {
 public:
  /// Null: there is no memory for a page. The process gets `file`.
  RunningPage* make(Life life, int& file);
  /// The process serves that job no more, or never did.
  void take_back(Life life);
  WorkersNow now(std::size_t lanes_each) const;
  /// Totals of all processes, those that have ended included.
  RunTotals ran() const;

 private:
  Duration ran_since(std::int64_t began) const;

  struct Page {
    int file = -1;
    RunningPage* page = nullptr;
    Instant since;
  };
  mutable std::mutex mutex_;
  std::map<Life, Page> pages_;
  RunTotals of_ended_;
  const TickClock clock_;  ///< the one of lanes, which processes of one host share
};

}  // namespace dag
