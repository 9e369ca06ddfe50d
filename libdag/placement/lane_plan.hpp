#pragma once
// Which cores of a host each of its node processes uses. Decides the division and the pinning; starting the
// threads is actors/lanes'.

#include <cstdint>
#include <optional>
#include <vector>

#include "libdag/placement/topology.hpp"

namespace dag {

/// One of the node processes that one `dag up` or `dag run` starts on a host.
struct LanePlanRequest {
  std::uint32_t node_index = 0;
  std::uint32_t node_count = 1;
  /// Lanes wished for; zero: one per core of this node's share. More than that share are not pinned.
  std::uint32_t lanes = 0;
};

struct PlannedLane {
  /// Empty: the operating system moves it as it likes.
  std::optional<HardwareThread> pinned_to = std::nullopt;
  /// Whether it may spin for work before it sleeps. Who shares a core with others must not.
  bool may_spin = false;
  bool operator==(const PlannedLane&) const = default;
};

/// At least one lane. All requests with the same topology and node_count divide its cores: each core is in
/// one plan only, shares are contiguous (neighbours share caches) and differ by one core at most. With fewer
/// cores than nodes, each has one lane that is not pinned and never spins.
std::vector<PlannedLane> plan_lanes(const Topology& topology, const LanePlanRequest& request);

}  // namespace dag
