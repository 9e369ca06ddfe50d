#pragma once
// Work for the lanes from outside: rows that a home made ready, and attempts that were dispatched. Rows that
// lanes make ready themselves do not pass here; they are always of normal priority (row_flag::plain) and lie
// in the lanes' own deques.

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "actors/lanes/lane_rows.hpp"
#include "actors/lanes/lane_shard.hpp"
#include "libdag/job/attempt.hpp"

namespace dag {

/// An attempt that a home or a runner dispatched, with the callback for its end.
struct Dispatched {
  Dispatched(Attempt what, std::function<void(AttemptEnd&&)> whom, std::function<void(Saved&&)> keep,
             std::function<void()> begin)
      : attempt(std::move(what)), done(std::move(whom)), saved(std::move(keep)), began(std::move(begin)) {}
  Attempt attempt;
  std::function<void(AttemptEnd&&)> done;
  std::function<void(Saved&&)> saved;
  std::function<void()> began;
  /// Read by Context::cancelled. If it is set before the kernel starts, the kernel does not start.
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  /// How often it waited in vain to be alone (alone_turn.hpp).
  std::uint32_t in_vain = 0;
};

/// A ready row, or an attempt that was dispatched.
struct Work {
  ReadyRow ready;
  std::unique_ptr<Dispatched> dispatched;
  Priority band = Priority::normal;
};

/// A queue for all lanes, with a lock; the oldest of the highest band first. Sizes are counted outside of the
/// lock, so that looking into an empty queue costs a lane one load.
class Inbox {
 public:
  void push(Work work);
  /// Attempts, and rows above normal: a lane looks for these before its own rows. Homes dispatch one by one
  /// the rows that others wait for.
  bool has_pressing() const { return pressing_.load(std::memory_order_acquire) > 0; }
  bool has_any() const { return size() > 0; }
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  /// The first of at least this band. `inside` is set to a row's shard before any thread can see the row gone
  /// from here. When it is a normal row, up to `more` rows behind it of the same kind go to `deque`.
  std::optional<Work> pop(Priority at_least, std::atomic<const LaneShard*>& inside, LaneRows& rows,
                          std::size_t more);
  /// Rows only, oldest first, for another process; at most `count`.
  std::vector<RowIndex> take_rows(const LaneShard* shard, std::size_t count);
  /// The same for attempts of a job that are not cancelled and that `may_go` allows.
  std::vector<OutputName> take_attempts(JobId job, std::size_t count,
                                        const std::function<bool(const OutputName&)>& may_go);
  /// Takes an attempt that no lane has begun; null when there is none.
  std::unique_ptr<Dispatched> take(JobId job, const OutputName& attempt);
  /// Visits the queued work in the order of bands and then of arrival: up to the last pressing one, or the
  /// rest behind it.
  void each(bool first_ones, const std::function<void(JobId, TaskId)>& attempt,
            const std::function<void(const ReadyRow&)>& row) const;
  /// Drops the rows of a shard that will not run any more.
  void drop(const LaneShard* shard);

 private:
  static bool pressing(const Work& work) { return work.dispatched || work.band > Priority::normal; }
  void count(const Work& work, std::size_t change) {
    size_.fetch_add(change, std::memory_order_release);
    if (pressing(work)) pressing_.fetch_add(change, std::memory_order_release);
  }

  mutable std::mutex mutex_;
  std::array<std::deque<Work>, 4> bands_;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> pressing_{0};
};

}  // namespace dag
