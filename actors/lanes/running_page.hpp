#pragma once
// What each lane runs at this moment, in memory that outlives the process: who supervises it from outside
// reads there which attempts a crash took along, and which lane's thread it was that faulted; and whoever
// asks why a task has not ended, since when a lane has it. Nothing waits for it, and it costs a few
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
    std::int64_t began = 0;  ///< by the clock of the lane (tick_clock.hpp)
  };

  // By a lane, of itself.
  void begin(std::size_t lane, TaskId task, AttemptId attempt, std::int64_t began) {
    if (lane >= lanes_max) return;
    Slot& slot = slots_[lane];
    // Whoever sees one of these sees that the turn before is over.
    slot.task.store(joined(task.origin, task.index), std::memory_order_release);
    slot.epoch.store(joined(attempt.epoch.term, attempt.epoch.count), std::memory_order_release);
    slot.number.store(attempt.number, std::memory_order_release);
    slot.began.store(began, std::memory_order_release);
    next_turn(slot);
  }
  void end(std::size_t lane) {
    if (lane < lanes_max) next_turn(slots_[lane]);
  }
  /// By a signal handler: async-signal-safe.
  void fault(std::size_t lane) { faulted_.store(static_cast<std::uint32_t>(lane + 1)); }

  /// Also while lanes run: a lane that goes from one to the next just then may be missing.
  std::vector<Attempt> running() const;
  /// When the process has ended.
  std::optional<std::uint32_t> faulted_lane() const;

 private:
  struct Slot {
    std::atomic<std::uint64_t> task{0}, epoch{0};
    std::atomic<std::int64_t> began{0};
    std::atomic<std::uint32_t> number{0};
    std::atomic<std::uint32_t> turn{0};  ///< odd: it runs what the others say
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                std::atomic<std::uint32_t>::is_always_lock_free);

  static constexpr std::uint64_t joined(std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  }
  /// Of the lane's own thread, so no other changes it meanwhile.
  static void next_turn(Slot& slot) {
    slot.turn.store(slot.turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

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
