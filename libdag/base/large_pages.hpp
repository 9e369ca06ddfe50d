#pragma once
// Memory of large arrays, so that a task costs the same in a graph of ten million as in one of ten thousand.
// The cost there is the first touch of each page (0.2 to 1.5 us per 4 KiB, the latter on virtual machines):
// pages are made large where the kernel allows, and none is touched for future elements.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dag {

/// Asks for pages of 2 MiB in this memory. Advice: without them all works as well.
void use_large_pages(const void* begin, std::size_t size_bytes);

/// To be called before a push_back: a vector that has become large grows so much that copying hardly counts.
/// The room ahead is addresses only, not memory. Smaller vectors are left to the allocator, which has warm
/// memory for them.
template <class T>
void make_room(std::vector<T>& values) {
  constexpr std::size_t large_bytes = std::size_t{4} << 20, growth = 8;
  if (values.size() < values.capacity() || values.size() < large_bytes / sizeof(T)) return;
  values.reserve(values.size() * growth);
  use_large_pages(values.data(), values.capacity() * sizeof(T));
}

/// The same, before `more` elements are appended at once.
template <class T>
void make_room_for(std::vector<T>& values, std::size_t more) {
  const std::size_t needed = values.size() + more;
  if (needed <= values.capacity()) return;
  values.reserve(std::max(needed, values.capacity() * 2));
  constexpr std::size_t large_bytes = std::size_t{4} << 20;
  if (values.capacity() * sizeof(T) >= large_bytes) {
    use_large_pages(values.data(), values.capacity() * sizeof(T));
  }
}

}  // namespace dag
