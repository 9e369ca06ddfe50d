#pragma once
// The cores of this host as hwloc sees them, and which of them the lanes of this process run on. The division
// and the distances are libdag/placement's; this reads the hardware.

#include <cstdint>

#include "actors/lanes/lanes.hpp"
#include "libdag/placement/topology.hpp"

namespace dag {

/// Only what this process may use: cpusets are taken off. A flat one where hwloc finds nothing.
Topology topology_of_host();

/// The node processes of one host that were started together divide its cores: this is number `rank` of
/// `size`.
struct CoreShare {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
};

/// The share of this process in `bytes` of the host's memory: processes share memory as they share
/// cores.
constexpr std::uint64_t share_of(std::uint64_t bytes, CoreShare share) { return bytes / share.size; }

/// Cores, spinning and victims of the lanes of one process. `wanted` 0: one lane per core of the share. With
/// fewer cores than processes, or more lanes than cores, lanes are not pinned and do not spin.
LanesOptions lanes_on(const Topology& topology, std::uint32_t wanted, CoreShare share, ProcessId process);

}  // namespace dag
