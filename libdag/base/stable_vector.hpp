#pragma once
// A vector whose elements never move: a thread appends while others use elements whose index they got.

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "libdag/base/check.hpp"

namespace dag {

/// Chunk k holds 1024 * 2^k elements, so 22 chunks reach four thousand million and an index is found by its
/// leading zeros. Elements are default-constructed in place; T need not be movable. How an index reaches
/// another thread is the caller's business (a queue), and orders the element's construction before its use.
template <class T>
class StableVector {
 public:
  /// Appends `count` default elements and returns the index of the first. One thread at a time.
  std::uint32_t grow(std::uint32_t count) {
    const std::uint32_t first = size_.load(std::memory_order_relaxed);
    DAG_CHECK(count <= UINT32_MAX - first_chunk - first);
    for (std::uint32_t done = 0; done < count;) {
      const Place place = place_of(first + done);
      if (chunks_[place.chunk] == nullptr) {
        chunks_[place.chunk] = std::make_unique<T[]>(std::size_t{first_chunk} << place.chunk);
      }
      const auto room = static_cast<std::uint32_t>((std::size_t{first_chunk} << place.chunk) - place.offset);
      done += count - done < room ? count - done : room;
    }
    size_.store(first + count, std::memory_order_release);
    return first;
  }
  /// Calls `visit` with elements that lie together, one piece after the other: `visit(T*, count)`.
  template <class Visit>
  void each_piece(std::uint32_t first, std::uint32_t count, Visit&& visit) {
    for (std::uint32_t done = 0; done < count;) {
      const Place place = place_of(first + done);
      const auto room = static_cast<std::uint32_t>((std::size_t{first_chunk} << place.chunk) - place.offset);
      const std::uint32_t some = count - done < room ? count - done : room;
      visit(&chunks_[place.chunk][place.offset], some);
      done += some;
    }
  }
  T& operator[](std::uint32_t index) {
    const Place place = place_of(index);
    return chunks_[place.chunk][place.offset];
  }
  const T& operator[](std::uint32_t index) const {
    const Place place = place_of(index);
    return chunks_[place.chunk][place.offset];
  }
  std::uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr std::uint32_t first_chunk = 1024;
  struct Place {
    std::uint32_t chunk;
    std::uint32_t offset;
  };
  static Place place_of(std::uint32_t index) {
    const std::uint32_t shifted = index + first_chunk;
    // The compiler does not see that it is never 0, for which it would have to ask.
    const auto chunk = static_cast<std::uint32_t>(std::bit_width(shifted | 1) - std::bit_width(first_chunk));
    return {chunk, shifted - (first_chunk << chunk)};
  }

  std::array<std::unique_ptr<T[]>, 22> chunks_;
  std::atomic<std::uint32_t> size_{0};
};

}  // namespace dag
