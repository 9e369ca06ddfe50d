#pragma once
// Divides the cores of a host between its node processes, and pins lanes to them; actors/lanes starts the
// threads.

#include <cstdint>
#include <optional>
#include <vector>

#include "libdag/placement/topology.hpp"

namespace dag {

/// A node process of those that `dag up` or `dag run` starts on a host.
struct LanePlanRequest {
  std::uint32_t node_index = 0;
  std::uint32_t node_count = 1;
  /// Lanes wished for; zero: a lane per core of this node's share. Lanes beyond that share are not pinned.
  std::uint32_t lanes = 0;
};

struct PlannedLane {
  /// Empty: the operating system may move it.
  std::optional<HardwareThread> pinned_to = std::nullopt;
  /// True: it may spin for work before it sleeps. A lane that shares its core with others must not.
  bool may_spin = false;
  bool operator==(const PlannedLane&) const = default;
};

/// At least one lane. All requests with the same topology and node_count divide its cores: each core is in
/// one plan only, shares are contiguous (neighbours share caches) and differ by one core at most. With fewer
/// cores than nodes, each has one lane that is not pinned and never spins.
std::vector<PlannedLane> plan_lanes(const Topology& topology, const LanePlanRequest& request);

}  // namespace dag
