#pragma once
// What attempts add to a graph: how much one may add, and how its tasks are numbered.
//
// A home gives no number twice, and knows nothing of numbers that the home before it gave and nobody
// recorded. So each count of a shard's rows has a block of its own, larger than a job may be. An origin has
// room for 256 of them; the homes after these number in the shard's next origin. The origins of a shard
// ascend, so who was numbered later is greater.

#include "libdag/base/ids.hpp"
#include "libdag/base/limits.hpp"

namespace dag {

inline constexpr std::uint32_t spawned_block_bits = 24;
inline constexpr std::uint32_t blocks_per_origin = 1u << (32 - spawned_block_bits);
static_assert((1u << spawned_block_bits) > limits::tasks_max);

/// Of what a shard has; origin 0 is nobody's, and the last of these would be beyond the last number.
inline constexpr std::uint32_t origins_per_shard = (1u << 16) - 1;
static_assert(std::uint64_t{origins_per_shard} * limits::shards_max < UINT32_MAX);
/// So often a shard may be counted: each loss of its home is one more. At one a second that is half a year.
inline constexpr std::uint32_t epochs_max = origins_per_shard * blocks_per_origin;

/// Of a task that was spawned.
constexpr std::uint32_t shard_of_origin(std::uint32_t origin) { return (origin - 1) % limits::shards_max; }
/// Which of its shard's origins it is, from 0.
constexpr std::uint32_t turn_of_origin(std::uint32_t origin) { return (origin - 1) / limits::shards_max; }

/// Where the block of an epoch begins.
constexpr TaskId first_spawned_of(std::uint32_t shard, Epoch epoch) {
  const std::uint32_t turn = epoch.count / blocks_per_origin;
  return {turn * limits::shards_max + shard + 1, epoch.count % blocks_per_origin << spawned_block_bits};
}

/// What one attempt may spawn where the job's record has copies, about as it is written: it lies in one
/// command of the record, behind what else ended in the meantime (replica/cell_replica.cpp).
inline constexpr std::size_t spawned_bytes_max = std::size_t{48} << 20;

}  // namespace dag
