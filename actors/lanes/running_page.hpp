#pragma once
// What each lane runs at this moment, in memory that outlives the process: who supervises it from outside
// reads there which attempts a crash took along, and which lane's thread it was that faulted. Written by
// lanes with plain stores, read after the process has ended; so nothing waits for it, and it costs a few
// nanoseconds per task.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libdag/base/ids.hpp"

namespace dag {

class RunningPage {
 public:
  /// Lanes beyond this are not noted.
  static constexpr std::size_t lanes_max = 256;

  struct Attempt {
    TaskId task;
    AttemptId attempt;
    std::uint32_t lane = 0;
  };

  // By a lane, of itself.
  void begin(std::size_t lane, TaskId task, AttemptId attempt) {
    if (lane >= lanes_max) return;
    Slot& slot = slots_[lane];
    slot.task = task;
    slot.attempt = attempt;
    slot.runs.store(true, std::memory_order_release);
  }
  void end(std::size_t lane) {
    if (lane < lanes_max) slots_[lane].runs.store(false, std::memory_order_release);
  }
  /// By a signal handler: async-signal-safe.
  void fault(std::size_t lane) { faulted_.store(static_cast<std::uint32_t>(lane + 1)); }

  // When the process has ended.
  std::vector<Attempt> running() const;
  std::optional<std::uint32_t> faulted_lane() const;

 private:
  struct Slot {
    TaskId task;
    AttemptId attempt;
    std::atomic<bool> runs{false};
  };
  static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

  std::atomic<std::uint32_t> faulted_{0};  // The lane plus one.
  Slot slots_[lanes_max];
};

/// From now on a fault (SEGV, BUS, FPE, ILL, ABRT) of a lane's thread is noted in `page`, then takes its
/// usual course. Once per process.
void note_faults(RunningPage& page);
/// By a lane's thread, of itself: which lane it is, and a stack of its own for the handler, since the fault
/// may be that the stack is used up.
void watch_this_lane(std::size_t lane);

}  // namespace dag
