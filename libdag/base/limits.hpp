#pragma once
// Limits that several parts share. (Every queue, batch, frame and retry has a limit.) static_asserts say how
// they relate.

#include <cstddef>
#include <cstdint>

namespace dag::limits {

/// Control frames (one ZeroMQ message) larger than this are refused before they are looked at.
inline constexpr std::size_t control_frame_bytes_max = 1u << 20;
/// A piece of a bulk transfer, without its header.
inline constexpr std::size_t bulk_chunk_bytes = 1u << 20;
/// Outputs up to this size travel inside the record of their attempt.
inline constexpr std::size_t inline_output_bytes_max = 4096;
/// An outbox is flushed at this many operations or bytes, or when its oldest one is this old.
inline constexpr std::size_t flush_operations = 256;
inline constexpr std::size_t flush_bytes = 16 * 1024;
inline constexpr std::uint64_t flush_age_ns = 10'000;
/// Credit of a peer: operations and bytes in flight towards us.
inline constexpr std::uint32_t credit_operations = 16'384;
inline constexpr std::uint64_t credit_bytes = 64u << 20;
/// Outputs up to this size are copied through a ring.
inline constexpr std::size_t ring_value_bytes_max = 32 * 1024;
/// Tasks of a graph, submitted and spawned ones together.
inline constexpr std::uint32_t tasks_max = 10'000'000;
/// Parts that a graph is cut into, one for each process that runs it.
inline constexpr std::uint32_t shards_max = 1 << 16;
inline constexpr std::uint32_t edges_max = 100'000'000;
/// Attempts of a task, unless its retry policy has a lower limit.
inline constexpr std::uint32_t attempts_max = 1'000;

static_assert(flush_bytes < control_frame_bytes_max);
static_assert(inline_output_bytes_max < flush_bytes);
static_assert(flush_operations < credit_operations);

}  // namespace dag::limits
