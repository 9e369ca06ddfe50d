#pragma once
// Keeps lanes out of the few instructions between "row ended" and "its successors are told" while the home
// counts rows again. A lane passes with one exchange; the home, rarely, closes the gate and waits until
// nobody is inside.

#include <atomic>
#include <cstdint>

namespace dag {

/// One per table. A lane that finds it closed leaves the end of its row to the home. Dekker's argument: a
/// lane announces itself and then looks, the home closes and then looks, both sequentially consistent, so at
/// least one of them sees the other. Waiting ends because a lane inside runs no user code and takes no lock.
class Gate {
 public:
  /// True: the caller is inside and must leave(). False: the gate is closed, nothing was entered.
  bool enter() {
    inside_.fetch_add(1, std::memory_order_seq_cst);
    if (!closed_.load(std::memory_order_seq_cst)) return true;
    inside_.fetch_sub(1, std::memory_order_release);
    return false;
  }
  void leave() { inside_.fetch_sub(1, std::memory_order_release); }

  /// Returns when no lane is inside and none can enter. `pause` is called while waiting.
  template <class Pause>
  void close(Pause&& pause) {
    closed_.store(true, std::memory_order_seq_cst);
    while (inside_.load(std::memory_order_seq_cst) != 0) pause();
  }
  void open() { closed_.store(false, std::memory_order_seq_cst); }

 private:
  std::atomic<std::uint32_t> inside_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace dag
