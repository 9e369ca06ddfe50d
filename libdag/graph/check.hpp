#pragma once
// Whether a graph makes sense, asked before anything of it runs: by the client before it submits, by a keeper
// before it accepts. What needs a cluster to answer (is there a node with 8 GPUs?) is asked elsewhere.

#include <cstdint>

#include "dag/detail/fragment.hpp"
#include "libdag/base/result.hpp"

namespace dag {

/// The first of these that is wrong, with a hint; messages name tasks as `class#index`:
/// too many tasks or edges; indices that lead nowhere (value_invalid: nobody's builder makes such a
/// fragment); a group that could restart nothing (usage); a task that says something impossible of itself
/// (usage); two job actors with one name (actor_name_taken); a cycle (job_has_cycle, with one cycle); a
/// deadline that stated durations cannot meet (deadline_impossible, with the path that is too long).
///
/// `outer_actors`: how many job actors the submitted graph has, when `fragment` was spawned by a task of it.
Status check(const detail::Fragment& fragment, std::uint32_t outer_actors = 0);

/// The first step of `check` alone: after it every index can be followed. O(tasks + edges).
Status check_indices(const detail::Fragment& fragment, std::uint32_t outer_actors = 0);

}  // namespace dag
