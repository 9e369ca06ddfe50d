#pragma once
// The pages that a node shares with its worker processes, one for each job that one serves, and what they say
// all together.

#include <cstdint>
#include <map>
#include <mutex>

#include "actors/lanes/running_page.hpp"
#include "actors/lanes/tick_clock.hpp"
#include "libdag/base/time.hpp"
#include "libdag/link/frame_header.hpp"

namespace dag {

/// What the worker processes of a node do.
struct WorkersNow {
  std::uint32_t processes = 0, lanes_running = 0;
  std::uint64_t queued = 0;  ///< tasks that wait for a lane, as they said last
  /// Since they were started: of all their lanes together, and of it what these were inside of kernels.
  Duration lane_time{0}, busy{0};
  /// Of those that have ended, too: never less than it was, while the node lives.
  Duration busy_ever{0};
};

/// From any thread.
class WorkerPages {
 public:
  /// Null: there is no memory for it. The process gets `file`.
  RunningPage* make(Life life, int& file);
  /// The process serves that job no more, or never did.
  void take_back(Life life);
  WorkersNow now(std::size_t lanes_each) const;
  /// How much they have run, those that have ended included.
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
