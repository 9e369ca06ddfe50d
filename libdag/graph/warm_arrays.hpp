#pragma once
// Arrays of graphs that are gone, kept for those to come: the first touch of fresh pages costs as much as
// adding the tasks. One pool per process, since a graph may be dropped by another thread than the one that
// made it.

#include <cstddef>

#include "dag/detail/fragment.hpp"

namespace dag::detail {

/// The number of tasks from which on a draft takes arrays of the pool. What it has by then is copied.
inline constexpr std::uint32_t warm_from = 1024;
/// Limits of the pool. Smaller arrays are left to the allocator, which has warm memory for them.
inline constexpr std::size_t warm_sets_max = 8, warm_bytes_max = std::size_t{64} << 20,
                             warm_bytes_min = std::size_t{64} << 10;

/// Puts the draft's arrays into larger ones of the pool, if it has any.
void warm_up(Fragment& draft);
/// Empties the arrays of a fragment that nobody needs any more, and keeps them if the pool has room.
void keep_warm(Fragment& gone);
/// The bytes that the pool holds at the moment.
std::size_t warm_bytes();

/// Deletes a fragment.
struct KeepsWarm {
  void operator()(Fragment* gone) const {
    keep_warm(*gone);
    delete gone;
  }
};

}  // namespace dag::detail
