#pragma once
// The limit of every text, list and blob in a frame. Cap'n Proto has none of its own; a frame that exceeds
// one of these is refused whole.

#include <cstddef>
#include <cstdint>

#include "libdag/base/limits.hpp"

namespace dag::wire {

inline constexpr std::size_t operations_per_frame_max = 4096;
inline constexpr std::size_t address_bytes_max = 300;  // A DNS name has at most 253.
inline constexpr std::size_t build_bytes_max = 128;
inline constexpr std::size_t name_bytes_max = 256;
inline constexpr std::size_t text_bytes_max = 16 * 1024;
/// What a frame weighs besides its operations, at most.
inline constexpr std::size_t frame_overhead_bytes = 256;
/// A frame of the bulk channel: one chunk and its header.
inline constexpr std::size_t bulk_frame_bytes_max = limits::bulk_chunk_bytes + 4096;

static_assert(limits::flush_operations <= operations_per_frame_max);
static_assert(text_bytes_max < limits::control_frame_bytes_max / 4);

}  // namespace dag::wire
