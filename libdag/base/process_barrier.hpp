#pragma once
// Two threads each announce something and then look for the other's announcement: at least one must see the
// other (Dekker). Usually both pay for a full barrier. If one side is on the hot path and the other is rare,
// the rare one pays for both: membarrier(2) makes every running thread of the process pass a barrier, so the
// hot one only keeps its two instructions in order.

#include <atomic>

namespace dag {

/// True: the kernel lets this process use membarrier(2). Registered when the program is loaded; where it is
/// refused (some containers), announce() is a full barrier.
extern const bool process_barrier_allowed;

/// The hot side's announcement, before its look: a caller of process_barrier() sees `mine` after its own
/// announcement, or the caller of announce() sees that one.
template <class T>
void announce(std::atomic<T>& mine, T value, bool asymmetric = process_barrier_allowed) {
  if (asymmetric) {
    mine.store(value, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    mine.store(value, std::memory_order_seq_cst);
  }
}

/// For a hot side whose announcement is made by other code: between the announcement and the look.
inline void light_barrier() {
  if (process_barrier_allowed) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    __sync_synchronize();  // As a fence; TSan, which models none, does not object to this one.
  }
}

/// The rare side, between a sequentially consistent announcement of its own and its look. Some microseconds.
void process_barrier();

}  // namespace dag
