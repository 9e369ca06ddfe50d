#pragma once
// A lane's queue of ready work: LIFO for itself, so that what was touched last is still in the cache; FIFO
// for thieves, who get the oldest, which tends to be the root of the most work (Blumofe and Leiserson 1999).

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "actors/lanes/lane_shard.hpp"
#include "libdag/home/attempt.hpp"

namespace dag {

/// An attempt that a home or a runner asked for, and whom to tell of its end.
struct HandedOut {
  HandedOut(Attempt what, std::function<void(Ended&&)> whom)
      : attempt(std::move(what)), done(std::move(whom)) {}
  Attempt attempt;
  std::function<void(Ended&&)> done;
  /// What Context::cancelled says. Set before it starts: it does not start.
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

/// A ready row, or an attempt that was handed out.
struct Work {
  LaneShard* shard = nullptr;
  RowIndex row = no_row;
  std::unique_ptr<HandedOut> handed_out;
  Priority band = Priority::normal;
};

class WorkQueue {
 public:
  void push(Work work);
  /// The newest of the highest band. `inside` is set to its shard before anybody can see it gone from the
  /// queue.
  std::optional<Work> pop(std::atomic<const LaneShard*>& inside);
  /// The oldest of the highest band.
  std::optional<Work> steal(std::atomic<const LaneShard*>& inside);
  /// Rows only, oldest first, for another process; at most `count`.
  std::vector<RowIndex> take_rows(const LaneShard* shard, std::size_t count);
  /// Drops the rows of a shard that will not be run any more.
  void drop(const LaneShard* shard);
  std::size_t size() const;

 private:
  std::optional<Work> take(bool newest, std::atomic<const LaneShard*>& inside);

  mutable std::mutex mutex_;
  std::array<std::deque<Work>, 4> bands_;
  std::size_t size_ = 0;
};

}  // namespace dag
