#pragma once
// Lets one lane run a kernel with no other kernel in its process: an attempt that may have crashed a process
// (Attempt::alone). The lane announces that it wants to be alone. Lanes that are about to begin a kernel then
// stand aside, and lanes that run a kernel finish it.
//
// Why no two overlap: a lane says that it is inside (KernelTurn), then looks whether a lane wants to be
// alone. The lane that wants to be alone says so, pays for the barrier of both, then looks whether another
// lane is inside. By Dekker's argument one of them sees the other.
//
// Why it ends: running kernels may wait for others that have not begun (members of a group), or run for
// hours. So no lane wants to be alone for longer than a patience. Then the others have their turn, rows
// queued before the attempt first, and the patience is doubled for the next time. Hence a kernel that others
// wait for does begin, and a kernel of any length is outlasted in the end. Two lanes that want to be alone
// come one after the other.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "libdag/base/process_barrier.hpp"
#include "libdag/base/time.hpp"

namespace dag {

class AloneTurn {
 public:
  static constexpr Duration patience_min = std::chrono::milliseconds(100);
  /// After waiting in vain, a lane lets the others begin kernels for this long.
  static constexpr Duration turn_of_others = std::chrono::milliseconds(10);
  /// The end of a kernel is polled: announcing it would cost every kernel more than these rare looks.
  static constexpr Duration look_again_after = std::chrono::milliseconds(2);

  /// By a lane that has said that it is inside.
  bool wanted() const { return who_.load(std::memory_order_seq_cst) != nullptr; }

  /// By a lane that is not inside, and has waited in vain so often. True: it is alone until leave(). False:
  /// the patience is over, or `give_up` says true.
  template <class NobodyInside, class GiveUp>
  bool enter(const void* who, std::uint32_t in_vain, NobodyInside&& nobody_inside, GiveUp&& give_up) {
    std::unique_lock lock(mutex_);
    if (in_vain > 0) changed_.wait_for(lock, turn_of_others, give_up);
    while (who_.load() != nullptr && !give_up()) changed_.wait_for(lock, look_again_after);
    if (give_up()) return false;
    who_.store(who, std::memory_order_seq_cst);
    process_barrier();
    const auto until =
        std::chrono::steady_clock::now() + patience_min * (std::int64_t{1} << std::min(in_vain, 24u));
    while (!nobody_inside()) {
      if (give_up() || std::chrono::steady_clock::now() >= until) {
        who_.store(nullptr);
        changed_.notify_all();
        return false;
      }
      changed_.wait_for(lock, look_again_after);
    }
    return true;
  }

  /// Also for a lane that was abandoned; nothing when it is not its turn.
  void leave(const void* who) {
    const std::lock_guard lock(mutex_);
    if (who_.load() != who) return;
    who_.store(nullptr);
    changed_.notify_all();
  }

  /// By a lane that is not inside: until nobody wants to be alone, or `give_up` says true.
  template <class GiveUp>
  void stand_aside(GiveUp&& give_up) {
    std::unique_lock lock(mutex_);
    while (who_.load() != nullptr && !give_up()) changed_.wait_for(lock, look_again_after);
  }

 private:
  std::atomic<const void*> who_{nullptr};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace dag
