#pragma once
// The output of a row: lanes read it while the home clears or replaces it.

#include <atomic>
#include <cstdint>

#include "dag/blob.hpp"

namespace dag {

/// A Blob that threads may store, load and clear at once. Its word and its state form a seqlock: a reader
/// that finds the same state before and after it read the word has both from one store. Small values need no
/// more: no lock and no reference. For a block on the heap the reader holds the state's lock bit for the
/// instructions that count its reference, so that the block is not released meanwhile.
class OutputSlot {
 public:
  OutputSlot() = default;
  OutputSlot(const OutputSlot&) = delete;
  OutputSlot& operator=(const OutputSlot&) = delete;
  ~OutputSlot() {
    if (on_heap()) clear();
  }

  /// Replaces the value.
  void store(Blob blob) {
    const std::uint32_t seen = lock();
    const Blob::Parts after = blob.detach();
    const Blob::Parts before{word_.load(std::memory_order_relaxed), kind_in(seen)};
    // Released: a reader who gets this word finds the state locked or newer.
    word_.store(after.word, std::memory_order_release);
    state_.store((seen & ~kind_mask) + one_version + (std::uint32_t{after.kind} << kind_shift),
                 std::memory_order_release);
    Blob::attach(before);  // Released here, outside the lock.
  }
  /// The value; a Blob that holds nothing if there is none.
  Blob load() const {
    for (;;) {
      const std::uint32_t seen = state_.load(std::memory_order_acquire);
      if ((seen & locked) != 0) continue;
      const std::uint8_t kind = kind_in(seen);
      if (kind == Blob::Parts::nothing) return {};
      if (kind == Blob::Parts::block) return load_block();
      const std::uint64_t word = word_.load(std::memory_order_acquire);
      if (state_.load(std::memory_order_relaxed) == seen) return Blob::attach({word, kind});
    }
  }
  /// True: the value is on the heap; a check without counting a reference.
  bool on_heap() const { return kind_in(state_.load(std::memory_order_acquire)) == Blob::Parts::block; }
  void clear() { store({}); }

 private:
  // The state: a lock, the Blob's kind, and the number of stores, so that a value that returns differs from a
  // value that stayed.
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t kind_shift = 1;
  static constexpr std::uint32_t kind_mask = std::uint32_t{15} << kind_shift;
  static constexpr std::uint32_t one_version = std::uint32_t{1} << 5;

  static std::uint8_t kind_in(std::uint32_t state) {
    return static_cast<std::uint8_t>((state & kind_mask) >> kind_shift);
  }
  std::uint32_t lock() const {
    std::uint32_t seen = state_.load(std::memory_order_relaxed) & ~locked;
    while (!state_.compare_exchange_weak(seen, seen | locked, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
      seen &= ~locked;
    }
    return seen;
  }
  Blob load_block() const {
    const std::uint32_t seen = lock();
    Blob mine = Blob::attach({word_.load(std::memory_order_relaxed), kind_in(seen)});
    Blob copy = mine;
    mine.detach();  // The slot keeps its own reference.
    state_.store(seen, std::memory_order_release);
    return copy;
  }

  std::atomic<std::uint64_t> word_{0};
  mutable std::atomic<std::uint32_t> state_{0};
};

}  // namespace dag
