#pragma once
// The running attempt of each lane, and lane totals, in memory that outlives the process. The process that
// supervises this one reads there which attempts a crash took along and which lane's thread faulted; `dag
// explain` reads since when a lane has a task; monitoring reads how busy lanes are. No thread waits for it,
// and it costs a few nanoseconds per task.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "actors/lanes/run_totals.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

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
    if (lane < lanes_max) fill(slots_[lane], task, attempt, began);
  }
  void end(std::size_t lane, bool failed, Duration ran) {
    if (lane >= lanes_max) return;
    next_turn(slots_[lane]);
    Counts& counts = counts_[lane];
    grow(counts.by_duration[RunTotals::bucket_of(ran)], 1);
    grow(counts.busy_ns, static_cast<std::uint64_t>(ran.count()));
    if (failed) grow(counts.failed, 1);
  }
  /// The lane took a row of another lane.
  void stole(std::size_t lane) {
    if (lane < lanes_max) grow(counts_[lane].stolen, 1);
  }
  /// Counts tasks that went to another, idle process: of this host, or not.
  void stolen(std::size_t tasks, bool same_host) {
    (same_host ? stolen_host_ : stolen_cluster_).fetch_add(tasks, std::memory_order_relaxed);
  }
  /// Rows that wait for lanes since `now`. By any thread of the process.
  void queue(std::size_t rows, Instant now);
  void inputs_came(std::uint64_t bytes, Duration took) {
    transfer_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    transfer_.add(took);
  }
  void paused(Duration pause) { retry_.add(pause); }
  void placed(Duration took) { placement_.add(took); }
  /// Called by the thread that carries the process's messages, every `beat_every` or sooner: the thread lives
  /// and gets turns. A node ends a process whose beats stop.
  void beat(std::uint32_t thread) {
    beating_thread_.store(thread, std::memory_order_relaxed);
    beats_.fetch_add(1, std::memory_order_relaxed);
  }
  static constexpr Duration beat_every = std::chrono::milliseconds(400);
  /// The process is about to end, and says nothing more.
  void last_beat() { beats_.store(0, std::memory_order_relaxed); }
  /// 0: not yet, or not any more.
  std::uint64_t beats() const { return beats_.load(std::memory_order_relaxed); }
  /// By the number that the kernel gave it.
  std::uint32_t beating_thread() const { return beating_thread_.load(std::memory_order_relaxed); }
  /// The process is about to end because of this attempt. Called once, by the thread that ends the process.
  void end_for(TaskId task, AttemptId attempt) { fill(ended_for_, task, attempt, 0); }
  /// By a signal handler: async-signal-safe. `signal` 0: its thread called exit().
  void fault(std::size_t lane, int signal) {
    faulted_.store(static_cast<std::uint32_t>(signal) << 16 | static_cast<std::uint32_t>(lane + 1));
  }

  /// Likewise: this signal is about to end the process, or may be. `from_outside`: another process sent it.
  void signalled(int signal, bool from_outside) {
    signalled_.store(static_cast<std::uint32_t>(signal) << 1 | (from_outside ? 1U : 0U));
  }

  /// Also while lanes run: a lane that is between two attempts may be missing.
  std::vector<Attempt> running() const;
  RunTotals totals() const;
  /// The last published number.
  std::uint64_t queued() const { return queued_.load(std::memory_order_relaxed); }
  /// Read when the process has ended.
  struct Fault {
    std::uint32_t lane = 0;
    int signal = 0;  ///< 0: it called exit()
    bool operator==(const Fault&) const = default;
  };
  std::optional<Fault> fault() const;
  std::optional<std::uint32_t> faulted_lane() const;
  /// Reported on a lane of its own, `lanes_max`: the attempt's former lane may run another one.
  std::optional<Attempt> ended_for() const;
  /// True: another process sent the signal that ended the process. Nothing: that was not noted.
  std::optional<bool> was_sent_from_outside(int signal) const;

 private:
  struct Slot {
    std::atomic<std::uint64_t> task{0}, epoch{0};
    std::atomic<std::int64_t> began{0};
    std::atomic<std::uint32_t> number{0};
    std::atomic<std::uint32_t> turn{0};  ///< odd: it runs the attempt that the other fields name
  };
  struct alignas(64) Counts {
    std::atomic<std::uint64_t> by_duration[RunTotals::bounds.size() + 1] = {};
    std::atomic<std::uint64_t> busy_ns{0}, failed{0}, stolen{0};
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                std::atomic<std::uint32_t>::is_always_lock_free);

  static constexpr std::uint64_t joined(std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  }
  static void fill(Slot& slot, TaskId task, AttemptId attempt, std::int64_t began) {
    // A reader that sees one of these sees that the turn before is over.
    slot.task.store(joined(task.origin, task.index), std::memory_order_release);
    slot.epoch.store(joined(attempt.epoch.term, attempt.epoch.count), std::memory_order_release);
    slot.number.store(attempt.number, std::memory_order_release);
    slot.began.store(began, std::memory_order_release);
    next_turn(slot);
  }
  /// Nothing: the lane runs none, or is between two attempts.
  static std::optional<Attempt> read(const Slot& slot, std::uint32_t lane);
  /// Called by the lane's own thread, so no other changes it meanwhile.
  static void next_turn(Slot& slot) {
    slot.turn.store(slot.turn.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Likewise.
  static void grow(std::atomic<std::uint64_t>& count, std::uint64_t by) {
    count.store(count.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t> faulted_{0};    // The signal, and the lane plus one.
  std::atomic<std::uint32_t> signalled_{0};  // The last signal, and whether it came from outside.
  std::atomic<std::uint64_t> beats_{0};
  std::atomic<std::uint32_t> beating_thread_{0};
  std::atomic<std::uint64_t> queued_{0}, waited_ns_{0};
  std::atomic<std::int64_t> queued_since_{0};
  struct Waits {
    void add(Duration waited) {
      count.fetch_add(1, std::memory_order_relaxed);
      total_ns.fetch_add(static_cast<std::uint64_t>(waited.count()), std::memory_order_relaxed);
    }
    std::atomic<std::uint64_t> count{0}, total_ns{0};
  };
  Waits transfer_, retry_, placement_;
  std::atomic<std::uint64_t> transfer_bytes_{0};
  Slot slots_[lanes_max];
  Slot ended_for_;
  Counts counts_[lanes_max];
  std::atomic<std::uint64_t> stolen_host_{0}, stolen_cluster_{0};
};

/// From now on a fault (SEGV, BUS, FPE, ILL, ABRT) of a lane's thread, and a call of exit(), is noted in
/// `page` before it takes its former course. A later call replaces the page; the page outlives the
/// lanes.
void note_faults(RunningPage& page);
/// Likewise for signals that end a process by default (TERM, HUP, INT, QUIT): a kernel may send them to its
/// own process. After note_faults().
void note_ends();
/// Called by a lane's thread: names its lane and gives the handler a stack of its own, since the fault may be
/// an exhausted stack.
void watch_this_lane(std::size_t lane);

}  // namespace dag
