#pragma once
// Whether a lane is inside of a kernel, so that another thread may use in its place what it keeps meanwhile.

#include <atomic>
#include <cstdint>
#include <thread>

#include "libdag/base/process_barrier.hpp"

namespace dag {

/// One per lane. The lane passes with two plain stores; whoever wants its things, rarely, pays for the
/// barrier of both. Dekker's argument: the lane says that it is out and then looks whether somebody is at its
/// things, the other says so and then looks whether the lane is still in, so at least one of them sees the
/// other.
class KernelTurn {
 public:
  /// `asymmetric` is an argument for tests.
  explicit KernelTurn(bool asymmetric = process_barrier_allowed) : asymmetric_(asymmetric) {}

  /// The lane's, around a kernel. What it wrote before is seen by whoever is let in.
  void begin() { announce(turn_, turn_.load(std::memory_order_relaxed) + 1, asymmetric_); }
  /// Waits for whoever is at the lane's things; he runs no user code.
  void end() {
    announce(turn_, turn_.load(std::memory_order_relaxed) + 1, asymmetric_);
    while (visited_.load(std::memory_order_seq_cst)) std::this_thread::yield();
  }

  /// Another one for each kernel; odd: it is inside.
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
