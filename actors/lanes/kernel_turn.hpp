#pragma once
// Tells whether a lane is inside of a kernel, so that another thread may then use the lane's data.

#include <atomic>
#include <cstdint>
#include <thread>

#include "libdag/base/process_barrier.hpp"

namespace dag {

/// Each lane has its own. The lane passes with two plain stores; a visiting thread, which is rare, pays for
/// the barrier of both. Dekker's argument: the lane says that it is out and then looks for a visitor; the
/// visitor says that it visits and then looks whether the lane is still in. So at least one of them sees the
/// other.
class KernelTurn {
 public:
  /// `asymmetric` is an argument for tests.
  explicit KernelTurn(bool asymmetric = process_barrier_allowed) : asymmetric_(asymmetric) {}

  /// By the lane, around a kernel. A visitor sees all that the lane wrote before.
  void begin() { announce(turn_, turn_.load(std::memory_order_relaxed) + 1, asymmetric_); }
  /// Waits for a visitor to leave; a visitor runs no user code.
  void end() {
    announce(turn_, turn_.load(std::memory_order_relaxed) + 1, asymmetric_);
    while (visited_.load(std::memory_order_seq_cst)) std::this_thread::yield();
  }

  /// Differs for each kernel; odd: the lane is inside.
  std::uint64_t number() const { return turn_.load(std::memory_order_seq_cst); }

  /// Calls `visit` if the lane is still inside of that kernel; it does not come out meanwhile. One thread at
  /// a time. True: it was called.
  template <class Visit>
  bool visit_if_inside(std::uint64_t number_seen, Visit&& visit) {
    if (number_seen % 2 == 0) return false;
    visited_.store(true, std::memory_order_seq_cst);
    process_barrier();
    const bool inside = number() == number_seen;
    if (inside) visit();
    visited_.store(false, std::memory_order_release);
    return inside;
  }

 private:
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<bool> visited_{false};
  const bool asymmetric_;
};

}  // namespace dag
