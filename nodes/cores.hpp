#pragma once
// Which cores this process may use, as hwloc sees them.

#include <cstdint>
#include <vector>

namespace dag {

/// A processing unit per lane: first one of each core, then the SMT siblings; only those that this process
/// may run on. `wanted` 0: one lane per core. More lanes than units, or no topology: lanes that are not
/// pinned (-1).
std::vector<int> lane_cores(std::uint32_t wanted);

/// Processes of one run divide the cores: those of process `rank` of `size`. With fewer cores than processes
/// each has one lane that is not pinned, and should not spin.
struct CoreShare {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
};
std::vector<int> lane_cores(std::uint32_t wanted, CoreShare share);

}  // namespace dag
