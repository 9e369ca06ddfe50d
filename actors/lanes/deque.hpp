#pragma once
// A lane's own rows: the deque of Chase and Lev (2005). The owner pushes and pops at the bottom without a
// lock, newest first, so that the rows touched last are still in the cache. Thieves take the oldest at the
// top, which tends to be the root of the most work (Blumofe and Leiserson 1999).
//
// Orders follow Le et al. (2013) with sequentially consistent operations in the place of fences, which TSan
// does not know: `bottom` in pop and `top` in steal are the two sides of Dekker's argument for the last row.
// tests/unit/lanes/deque_test.cpp runs this very code in every order of its steps, store buffers included;
// for that, Atomic is a parameter.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libdag/rows/row_table.hpp"

namespace dag {

struct LaneShard;

/// A ready row and its shard.
struct ReadyRow {
  LaneShard* shard = nullptr;
  RowIndex row = no_row;
  bool operator==(const ReadyRow&) const = default;
};

/// `notice(shard)` is called with the shard of a row before any thread can see that row gone from the deque:
/// from then on the shard must not be destroyed (see Lanes::retire). When another thread gets the row after
/// all, the notice was in vain and does no harm.
template <template <class> class Atomic>
class BasicDeque {
 public:
  explicit BasicDeque(std::uint64_t capacity = 256) { use(std::make_unique<Slots>(capacity)); }

  // By the owner.
  void push(ReadyRow ready) {
    const std::uint64_t bottom = bottom_.load(std::memory_order_relaxed);
    const std::uint64_t top = top_.load(std::memory_order_acquire);
    Slots* slots = all_slots_.back().get();
    if (bottom - top == slots->capacity) slots = grow(top, bottom);
    slots->at(bottom).set(ready);
    bottom_.store(bottom + 1, std::memory_order_release);
  }
  /// The newest.
  template <class Notice>
  std::optional<ReadyRow> pop(Notice&& notice) {
    const std::uint64_t bottom = bottom_.load(std::memory_order_relaxed);
    if (bottom == top_.load(std::memory_order_relaxed)) return std::nullopt;
    const ReadyRow newest = all_slots_.back()->at(bottom - 1).get();  // The owner's own write.
    notice(newest.shard);
    bottom_.store(bottom - 1, std::memory_order_seq_cst);  // Later thieves leave it alone.
    std::uint64_t top = top_.load(std::memory_order_seq_cst);
    if (top < bottom - 1) return newest;
    // Perhaps the last row: the thread that moves `top` has it.
    const bool mine =
        top == bottom - 1 && top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst);
    bottom_.store(bottom, std::memory_order_relaxed);
    return mine ? std::optional(newest) : std::nullopt;
  }

  // By any thread.
  /// The oldest. Nothing also when another thread was faster: look again while size() is not zero.
  template <class Notice>
  std::optional<ReadyRow> steal(Notice&& notice) {
    std::uint64_t top = top_.load(std::memory_order_seq_cst);
    if (top >= bottom_.load(std::memory_order_seq_cst)) return std::nullopt;
    // Valid if `top` has not moved: until then the owner does not write there again.
    const auto* slots = reinterpret_cast<const Slots*>(slots_.load(std::memory_order_acquire));
    const ReadyRow oldest = slots->at(top).get();
    notice(oldest.shard);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) return std::nullopt;
    return oldest;
  }
  /// The approximate number of rows; exact when no other thread is at work.
  std::uint64_t size() const {
    const std::uint64_t top = top_.load(std::memory_order_acquire);
    const std::uint64_t bottom = bottom_.load(std::memory_order_acquire);
    return bottom > top ? bottom - top : 0;
  }
  /// The approximate content, without taking it. The owner may be at work: a row may be missing, or may have
  /// just been taken.
  void newest_first(std::size_t count_max, std::vector<ReadyRow>& to) const {
    const std::uint64_t top = top_.load(std::memory_order_seq_cst);
    const auto* slots = reinterpret_cast<const Slots*>(slots_.load(std::memory_order_acquire));
    for (std::uint64_t at = bottom_.load(std::memory_order_seq_cst); at > top && to.size() < count_max;
         --at) {
      const ReadyRow row = slots->at(at - 1).get();
      if (row.shard != nullptr) to.push_back(row);
    }
  }
  /// Total number of rows taken off the top.
  std::uint64_t taken() const { return top_.load(std::memory_order_acquire); }

 private:
  struct Slot {
    Atomic<std::uintptr_t> shard{0};
    Atomic<RowIndex> row{no_row};
    void set(ReadyRow ready) {
      shard.store(reinterpret_cast<std::uintptr_t>(ready.shard), std::memory_order_relaxed);
      row.store(ready.row, std::memory_order_relaxed);
    }
    ReadyRow get() const {
      return {reinterpret_cast<LaneShard*>(shard.load(std::memory_order_relaxed)),
              row.load(std::memory_order_relaxed)};
    }
  };
  struct Slots {
    explicit Slots(std::uint64_t size) : capacity(size), ring(std::make_unique<Slot[]>(size)) {}
    Slot& at(std::uint64_t position) const { return ring[position & (capacity - 1)]; }
    const std::uint64_t capacity;  // A power of two.
    std::unique_ptr<Slot[]> ring;
  };

  Slots* grow(std::uint64_t top, std::uint64_t bottom) {
    const Slots& old = *all_slots_.back();
    auto larger = std::make_unique<Slots>(old.capacity * 2);
    for (std::uint64_t i = top; i < bottom; ++i) larger->at(i).set(old.at(i).get());
    return use(std::move(larger));
  }
  Slots* use(std::unique_ptr<Slots> slots) {
    all_slots_.push_back(std::move(slots));
    slots_.store(reinterpret_cast<std::uintptr_t>(all_slots_.back().get()), std::memory_order_release);
    return all_slots_.back().get();
  }

  // Positions only grow, but for pop's; they begin at 1 so that pop may step below the first.
  alignas(64) Atomic<std::uint64_t> top_{1};
  alignas(64) Atomic<std::uint64_t> bottom_{1};
  Atomic<std::uintptr_t> slots_{0};
  /// The owner's. A thief may still read smaller ones: together they are no larger than the newest.
  std::vector<std::unique_ptr<Slots>> all_slots_;
};

template <class T>
using StandardAtomic = std::atomic<T>;
using Deque = BasicDeque<StandardAtomic>;

}  // namespace dag
