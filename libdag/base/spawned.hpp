#pragma once
// Limits and numbers of spawned tasks.
//
// A home gives no number twice, and does not know the numbers of earlier homes that were not settled. So
// each epoch of a shard has its own block of numbers, larger than a job may be. An origin has room for 256
// blocks; later homes number in the shard's next origin. The origins of a shard ascend, so a task that was
// numbered later is greater.

#include "libdag/base/ids.hpp"
#include "libdag/base/limits.hpp"

namespace dag {

inline constexpr std::uint32_t spawned_block_bits = 24;
inline constexpr std::uint32_t blocks_per_origin = 1u << (32 - spawned_block_bits);
static_assert((1u << spawned_block_bits) > limits::tasks_max);

/// Origins of a shard; origin 0 is the submitted graph's, and one more would not fit in an id.
inline constexpr std::uint32_t origins_per_shard = (1u << 16) - 1;
static_assert(std::uint64_t{origins_per_shard} * limits::shards_max < UINT32_MAX);
/// Limit of a shard's recounts, one per loss of its home. At a loss per second that is half a year.
inline constexpr std::uint32_t epochs_max = origins_per_shard * blocks_per_origin;

/// The shard of a spawned task.
constexpr std::uint32_t shard_of_origin(std::uint32_t origin) { return (origin - 1) % limits::shards_max; }
/// Index of the origin among its shard's, from 0.
constexpr std::uint32_t turn_of_origin(std::uint32_t origin) { return (origin - 1) / limits::shards_max; }

/// Beginning of an epoch's block.
constexpr TaskId first_spawned_of(std::uint32_t shard, Epoch epoch) {
  const std::uint32_t turn = epoch.count / blocks_per_origin;
  return {turn * limits::shards_max + shard + 1, epoch.count % blocks_per_origin << spawned_block_bits};
}

/// Limit of the fragment that an attempt may spawn where the job's record has copies, in encoded bytes: it
/// lies in a single command of the record, together with other ends of the time (replica/cell_replica.cpp).
inline constexpr std::size_t spawned_bytes_max = std::size_t{48} << 20;

}  // namespace dag
