#pragma once
// Whether a cluster can ever run a graph: asked once, before anything of it is accepted. The predicate itself
// is placement/misfit.hpp's.

#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/membership/claim.hpp"
#include "libdag/placement/misfit.hpp"

namespace dag {

/// The devices of a node, as it gossips of them. GPUs are the devices of other kinds than "cpu".
NodeDevices devices_of(ProcessId node, const LoadSummary& load);

/// memory_exhausted when the rows alone are more than the memory of all; needs_impossible, naming the task
/// and for each node why not; deadline_impossible when the stated durations cannot be met on so many lanes
/// (Graham 1969).
Status admit(const detail::Fragment& graph, const std::vector<NodeDevices>& nodes);

}  // namespace dag
