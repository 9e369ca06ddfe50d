#pragma once
// A work-stealing deque (Chase and Lev 2005) of 64-bit items, without locks: its owner pushes and pops at one
// end, any number of thieves take the oldest from the other. Decides only who gets an item; what an item
// means is the lane's.
//
// Le et al. (2013) give the weakest memory orders, with fences. ThreadSanitizer does not understand fences,
// so here the operations that a fence would order are sequentially consistent themselves: in pop(), `bottom`
// is stored before `top` is loaded; in steal(), `top` is loaded before `bottom`. So owner and thief cannot
// both believe that the last item is theirs without meeting in the exchange of `top`. On x86 that is the same
// one full barrier per pop; push() pays one too, for whoever pushes then looks for sleepers
// (libdag/ring/bell.hpp), and would have to anyway.
//
// It grows by copying into an array of twice the size. A thief may still read the old one, where items that
// are not taken yet lie unchanged; so old arrays stay until the end: together less than the newest.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libdag/base/check.hpp"

namespace dag {

enum class Stolen {
  item,
  empty,
  /// Another took it first: there may be more.
  lost,
};

template <template <class> class Atomic = std::atomic>
class Deque {
 public:
  explicit Deque(std::size_t capacity = 1024) {
    DAG_CHECK(std::has_single_bit(capacity));
    arrays_.push_back(std::make_unique<Array>(capacity));
    array_.store(arrays_.back().get(), std::memory_order_relaxed);
  }
  Deque(const Deque&) = delete;
  Deque& operator=(const Deque&) = delete;

  // By the owner.

  void push(std::uint64_t item) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const std::int64_t top = top_.load(std::memory_order_acquire);
    Array* array = arrays_.back().get();
    if (bottom - top >= array->capacity()) array = grow(top, bottom);
    array->at(bottom).store(item, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_seq_cst);
  }

  /// The newest.
  std::optional<std::uint64_t> pop() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    bottom_.store(bottom, std::memory_order_seq_cst);
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    std::optional<std::uint64_t> item;
    if (top < bottom) return arrays_.back()->at(bottom).load(std::memory_order_relaxed);
    if (top == bottom) {  // The last one: whoever moves `top` has it.
      item = arrays_.back()->at(bottom).load(std::memory_order_relaxed);
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst)) item.reset();
    }
    bottom_.store(bottom + 1, std::memory_order_release);
    return item;
  }

  // By anybody.

  /// The oldest.
  Stolen steal(std::uint64_t& item) {
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top >= bottom_.load(std::memory_order_seq_cst)) return Stolen::empty;
    item = array_.load(std::memory_order_acquire)->at(top).load(std::memory_order_relaxed);
    return top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst) ? Stolen::item
                                                                                 : Stolen::lost;
  }

  /// Exact only for the owner while nobody steals. For who is about to sleep: not 0 if a push came before.
  std::size_t size() const {
    const std::int64_t top = top_.load(std::memory_order_seq_cst);
    const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);
    return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
  }

 private:
  class Array {
   public:
    explicit Array(std::size_t capacity)
        : items_(std::make_unique<Atomic<std::uint64_t>[]>(capacity)), mask_(capacity - 1) {}
    std::int64_t capacity() const { return static_cast<std::int64_t>(mask_ + 1); }
    Atomic<std::uint64_t>& at(std::int64_t index) { return items_[static_cast<std::size_t>(index) & mask_]; }

   private:
    std::unique_ptr<Atomic<std::uint64_t>[]> items_;
    std::size_t mask_;
  };

  Array* grow(std::int64_t top, std::int64_t bottom) {
    Array& from = *arrays_.back();
    auto to = std::make_unique<Array>(static_cast<std::size_t>(from.capacity()) * 2);
    for (std::int64_t i = top; i < bottom; ++i) {
      to->at(i).store(from.at(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    arrays_.push_back(std::move(to));
    array_.store(arrays_.back().get(), std::memory_order_release);
    return arrays_.back().get();
  }

  /// Both count items since the beginning: [top, bottom) are there.
  alignas(128) Atomic<std::int64_t> top_{0};
  alignas(128) Atomic<std::int64_t> bottom_{0};
  Atomic<Array*> array_{nullptr};
  /// The owner's; the last one is array_.
  std::vector<std::unique_ptr<Array>> arrays_;
};

}  // namespace dag
