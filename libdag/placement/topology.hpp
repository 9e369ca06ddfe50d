#pragma once
// The cores of a host as plain values, and the distance of two lanes. Decides only the distance; nodes/ reads
// the hardware (hwloc), and stealing/ uses distances.

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"

namespace dag {

/// A hardware thread and the levels it shares with others. Two threads with the same number share that level;
/// numbers are unique on the host, not within their parent. A machine without such a level (no shared L3, one
/// NUMA node) gives all threads below the next level the same number.
struct HardwareThread {
  std::uint32_t os_index = 0;  ///< the operating system's number, for pinning
  std::uint32_t core = 0;
  std::uint32_t l2 = 0;
  std::uint32_t l3 = 0;
  std::uint32_t numa_node = 0;
  std::uint32_t package = 0;
  auto operator<=>(const HardwareThread&) const = default;
};

/// The usable part of a host: cpusets and cgroups are already taken off.
struct Topology {
  std::vector<HardwareThread> threads;
  std::uint64_t memory_bytes = 0;
  bool operator==(const Topology&) const = default;
};

/// A topology of just `cores` cores, for tests, and where the hardware cannot be read.
Topology flat_topology(std::uint32_t cores);

/// Conditions for a topology from outside: some thread, no thread twice, no core in two packages.
Status check(const Topology& topology);

/// The threads of each core, with cores ordered so that neighbours are close: by package, NUMA node, L3, L2,
/// core.
std::vector<std::vector<HardwareThread>> cores_in_order(const Topology& topology);

/// The rungs of the ladder on which an idle lane looks for work, nearest first.
enum class Distance : std::uint8_t {
  same_lane,
  smt_sibling,
  shared_l2,
  shared_l3,
  numa_node,
  package,
  process,  ///< the same process, another package, or not pinned
  host,     ///< another process of this host
  cluster,  ///< another host
};
std::string_view name(Distance distance);

/// Names a host: equal for processes under the same kernel.
struct HostId {
  std::uint64_t value = 0;
  auto operator<=>(const HostId&) const = default;
};

/// The place of a lane.
struct LaneSite {
  HostId host;
  ProcessId process;
  std::uint32_t lane = 0;
  /// Empty: it is not pinned.
  std::optional<HardwareThread> pinned_to = std::nullopt;
  bool operator==(const LaneSite&) const = default;
};

/// Symmetric. Between processes caches do not count: stolen rows cross a ring or a socket.
Distance distance(const LaneSite& a, const LaneSite& b);

/// The other lanes, nearest first; within a rung in the order given, beginning behind `thief` itself, so that
/// thieves of a rung do not all try the same victim first.
struct Rung {
  Distance distance = Distance::same_lane;
  std::vector<LaneSite> lanes;
};
std::vector<Rung> victim_ladder(const LaneSite& thief, const std::vector<LaneSite>& lanes);

}  // namespace dag
