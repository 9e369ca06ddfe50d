#include "nodes/cores.hpp"

#include <hwloc.h>

#include <algorithm>
#include <thread>

namespace dag {
namespace {

/// Units by their rank within their core, so that siblings come after all first units.
std::vector<int> units_in_order() {
  std::vector<std::pair<unsigned, int>> found;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return {};
  if (hwloc_topology_load(topology) == 0) {
    hwloc_cpuset_t mine = hwloc_bitmap_alloc();
    const bool bound = hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) == 0;
    for (hwloc_obj_t unit = nullptr;
         (unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr;) {
      if (bound && !hwloc_bitmap_isset(mine, unit->os_index)) continue;
      found.emplace_back(unit->sibling_rank, static_cast<int>(unit->os_index));
    }
    hwloc_bitmap_free(mine);
  }
  hwloc_topology_destroy(topology);
  std::sort(found.begin(), found.end());
  std::vector<int> units;
  units.reserve(found.size());
  for (const auto& [rank, unit] : found) units.push_back(unit);
  return units;
}

}  // namespace

std::vector<int> lane_cores(std::uint32_t wanted) { return lane_cores(wanted, {}); }

std::vector<int> lane_cores(std::uint32_t wanted, CoreShare share) {
  const std::vector<int> all = units_in_order();
  const std::size_t count = all.empty() ? std::max(1u, std::thread::hardware_concurrency()) : all.size();
  const std::size_t first = count * share.rank / share.size;
  const std::size_t last = count * (share.rank + 1) / share.size;
  std::vector<int> units;
  if (count >= share.size) {
    for (std::size_t i = first; i < last && i < all.size(); ++i) units.push_back(all[i]);
  }
  if (wanted == 0) wanted = count < share.size ? 1 : static_cast<std::uint32_t>(last - first);
  if (wanted > units.size()) return std::vector<int>(wanted, -1);
  units.resize(wanted);
  return units;
}

}  // namespace dag
