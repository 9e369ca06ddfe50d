#pragma once
// Checks once, before a graph is accepted, that the cluster can ever run it. placement/misfit.hpp has the
// predicate itself.

#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/membership/claim.hpp"
#include "libdag/placement/misfit.hpp"

namespace dag {

/// The devices of a node, by its load gossip. GPUs are the devices of other kinds than "cpu".
NodeDevices devices_of(ProcessId node, const LoadSummary& load);

/// memory_exhausted when the rows alone exceed the memory of all nodes; needs_impossible, naming the task and
/// the reason for each node; deadline_impossible when the stated durations cannot be met on so many lanes
/// (Graham 1969).
Status admit(const detail::Fragment& graph, const std::vector<NodeDevices>& nodes);

}  // namespace dag
