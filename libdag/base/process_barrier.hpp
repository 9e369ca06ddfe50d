#pragma once
// Two threads that each announce something and then look for what the other announced: at least one must see
// the other (Dekker). Usually both pay for a full barrier. Where one side is on the hot path and the other is
// rare, the rare one pays for both: membarrier(2) makes every running thread of the process pass a barrier,
// so the hot one needs only to keep its two instructions in order.

#include <atomic>

namespace dag {

/// Whether the kernel lets this process use membarrier(2). Registered when the program is loaded; where it is
/// refused (some containers), announce() is a full barrier.
extern const bool process_barrier_allowed;

/// The hot side, before it looks: `mine` is seen by whoever calls process_barrier() after its own
/// announcement, or the caller sees that announcement.
template <class T>
void announce(std::atomic<T>& mine, T value, bool asymmetric = process_barrier_allowed) {
  if (asymmetric) {
    mine.store(value, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    mine.store(value, std::memory_order_seq_cst);
  }
}

/// The hot side where its announcement is made by code that knows nothing of this: between that and its look.
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
