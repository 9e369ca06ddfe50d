#pragma once
// Cuts a graph into shards: parts of its rows that get a home each. Decides which task belongs to which
// shard; the cell decides which process is a shard's home, and placement where a task runs.
//
// A pass over the tasks in topological order (linear deterministic greedy: Stanton, Kliot 2012): each task
// goes to the shard with most of its neighbours, weighted by the room left there. Two things are added. Room
// grows with the number of tasks given out, so that each part of the job's time is balanced and shards can
// work side by side. And tasks without predecessors are spread in chunks, since neighbours were mostly added
// one after the other. Edges on the critical path count several times.

#include <cstdint>
#include <span>
#include <vector>

#include "dag/detail/fragment.hpp"

namespace dag {

/// Index of a shard. Processes keep one for each task, so it is small.
using ShardIndex = std::uint16_t;

/// The shard of each task, in [0, shards). Blocks (blocks.hpp) are never cut; else no shard gets more than
/// about a tenth above its share of the tasks and of their stated durations. The fragment must have no cycle.
/// There are at most limits::shards_max shards. O(tasks * shards + edges).
std::vector<ShardIndex> partition(const detail::Fragment& fragment, std::uint32_t shards);

/// Cost of a partition, for tests and for people.
struct PartitionQuality {
  std::size_t edges_cut = 0;
  double tasks_largest = 0;  ///< tasks in the largest shard, as a multiple of the mean
};
PartitionQuality quality(const detail::Fragment& fragment, std::span<const ShardIndex> shard_of,
                         std::uint32_t shards);

}  // namespace dag
