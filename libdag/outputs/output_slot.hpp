#pragma once
// Where a row keeps its output: one word that several lanes may read while the home clears it.

#include <atomic>
#include <cstdint>

#include "dag/blob.hpp"

namespace dag {

/// A Blob that threads may store, load and clear at once. The lowest bit of the pointer is a lock that is
/// held for the two instructions that count a reference; blobs are 64-byte aligned, so the bit is free.
class OutputSlot {
 public:
  OutputSlot() = default;
  OutputSlot(const OutputSlot&) = delete;
  OutputSlot& operator=(const OutputSlot&) = delete;
  ~OutputSlot() { clear(); }

  /// Replaces what was there.
  void store(Blob blob) {
    const std::uintptr_t old = lock();
    unlock(reinterpret_cast<std::uintptr_t>(blob.detach()));
    Blob::attach(reinterpret_cast<void*>(old));  // Released here, outside the lock.
  }
  /// A reference to what is there; a Blob that holds nothing when nothing is.
  Blob load() const {
    if (word_.load(std::memory_order_acquire) == 0) return {};
    const std::uintptr_t held = lock();
    Blob mine = Blob::attach(reinterpret_cast<void*>(held));
    Blob copy = mine;
    mine.detach();  // The slot keeps its own reference.
    unlock(held);
    return copy;
  }
  void clear() { store({}); }

 private:
  std::uintptr_t lock() const {
    std::uintptr_t seen = word_.load(std::memory_order_relaxed) & ~std::uintptr_t{1};
    while (
        !word_.compare_exchange_weak(seen, seen | 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      seen &= ~std::uintptr_t{1};
    }
    return seen;
  }
  void unlock(std::uintptr_t value) const { word_.store(value, std::memory_order_release); }

  mutable std::atomic<std::uintptr_t> word_{0};
};

}  // namespace dag
