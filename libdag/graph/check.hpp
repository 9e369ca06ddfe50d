#pragma once
// Checks that a graph makes sense before any of it runs: in the client before it submits, in a keeper before
// it accepts. Questions that need a cluster (is there a node with 8 GPUs?) are asked elsewhere.

#include <cstdint>

#include "dag/detail/builder.hpp"
#include "dag/detail/fragment.hpp"
#include "libdag/base/result.hpp"

namespace dag {

/// The first of these faults, with a hint; messages name tasks as `class#index`: too many tasks or edges;
/// invalid indices (value_invalid: no builder makes such a fragment); a group that could restart nothing
/// (usage); impossible options of a task (usage); two job actors with one name (actor_name_taken); a cycle
/// (job_has_cycle, with one cycle); a deadline that stated durations cannot meet (deadline_impossible, with
/// the path that is too long).
///
/// `outer_actors`: number of job actors of the submitted graph, when a task of it spawned `fragment`.
Status check(const detail::Fragment& fragment, std::uint32_t outer_actors = 0);

/// The same for a graph that a Builder of this process made. The time does not depend on the number of tasks
/// when all have plain options and none waits for a later one.
Status check(const detail::Builder& builder);

/// The first step of `check` alone: after it every index can be followed. O(tasks + edges).
Status check_indices(const detail::Fragment& fragment, std::uint32_t outer_actors = 0);

/// As check_indices, for a sealed graph of a Builder, which makes no wrong edges and arguments. Handles of
/// another graph's actors may have come as values.
Status check_built_indices(const detail::Fragment& fragment);

}  // namespace dag
