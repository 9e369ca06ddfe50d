#pragma once
// Keeps lanes out of the few instructions between "row ended" and "its successors are told" while the home
// counts rows again. A lane passes with two plain stores to a cache line of its own; the home, rarely, closes
// the gate and waits until nobody is inside.

#include <atomic>
#include <cstdint>
#include <vector>

#include "libdag/base/process_barrier.hpp"

namespace dag {

/// Each table has a gate. A lane that finds it closed leaves the end of its row to the home. Dekker's
/// argument: a lane announces itself and then looks, the home closes and then looks, with a barrier between
/// (the home's is one for all lanes, process_barrier.hpp), so at least one of them sees the other. Waiting
/// ends because a lane inside runs no user code and takes no lock.
class Gate {
 public:
  /// For lanes numbered below `lanes`; each number is one thread at a time. `asymmetric` is an argument for
  /// tests.
  explicit Gate(std::size_t lanes, bool asymmetric = process_barrier_allowed)
      : passages_(lanes), asymmetric_(asymmetric) {}

  /// True: the lane is inside and must leave(). False: the gate is closed, nothing was entered.
  bool enter(std::size_t lane) {
    std::atomic<bool>& inside = passages_[lane].inside;
    announce(inside, true, asymmetric_);
    // Sequentially consistent for the case that there is no process barrier; a plain load on x86.
    if (!closed_.load(std::memory_order_seq_cst)) return true;
    inside.store(false, std::memory_order_release);
    return false;
  }
  void leave(std::size_t lane) { passages_[lane].inside.store(false, std::memory_order_release); }

  /// Returns when no lane is inside and none can enter. `pause` is called while waiting.
  template <class Pause>
  void close(Pause&& pause) {
    closed_.store(true, std::memory_order_seq_cst);
    process_barrier();
    for (const Passage& passage : passages_) {
      while (passage.inside.load(std::memory_order_seq_cst)) pause();
    }
  }
  void open() { closed_.store(false, std::memory_order_seq_cst); }

 private:
  struct alignas(64) Passage {
    std::atomic<bool> inside{false};
  };

  std::vector<Passage> passages_;
  std::atomic<bool> closed_{false};
  const bool asymmetric_;
};

}  // namespace dag
