#include "nodes/machine/cores.hpp"

#include <hwloc.h>

#include <algorithm>
#include <thread>

#include "libdag/placement/lane_plan.hpp"

namespace dag {
namespace {

/// The number of what `unit` shares at this level; units that have no such level share number 0 of it.
std::uint32_t shared(hwloc_topology_t topology, hwloc_obj_t unit, hwloc_obj_type_t level) {
  if (level == HWLOC_OBJ_NUMANODE) {
    // Memory hangs beside the tree of cores: the node is the one whose cores include this one.
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, level, node)) != nullptr;) {
      if (hwloc_bitmap_isincluded(unit->cpuset, node->cpuset)) return node->logical_index;
    }
    return 0;
  }
  const hwloc_obj_t ancestor = hwloc_get_ancestor_obj_by_type(topology, level, unit);
  return ancestor == nullptr ? 0 : ancestor->logical_index;
}

std::uint64_t memory_bytes(hwloc_topology_t topology) {
  const hwloc_obj_t machine = hwloc_get_root_obj(topology);
  return machine == nullptr ? 0 : machine->total_memory;
}

}  // namespace

Topology topology_of_host() {
  Topology found;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) == 0) {
    if (hwloc_topology_load(topology) == 0) {
      found.memory_bytes = memory_bytes(topology);
      hwloc_cpuset_t mine = hwloc_bitmap_alloc();
      const bool bound = hwloc_get_cpubind(topology, mine, HWLOC_CPUBIND_PROCESS) == 0;
      for (hwloc_obj_t unit = nullptr;
           (unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr;) {
        if (bound && !hwloc_bitmap_isset(mine, unit->os_index)) continue;
        const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
        found.threads.push_back(
            {unit->os_index, core == nullptr ? unit->logical_index : core->logical_index,
             shared(topology, unit, HWLOC_OBJ_L2CACHE), shared(topology, unit, HWLOC_OBJ_L3CACHE),
             shared(topology, unit, HWLOC_OBJ_NUMANODE), shared(topology, unit, HWLOC_OBJ_PACKAGE)});
      }
      hwloc_bitmap_free(mine);
    }
    hwloc_topology_destroy(topology);
  }
  if (check(found)) return found;
  Topology flat = flat_topology(std::max(1u, std::thread::hardware_concurrency()));
  flat.memory_bytes = found.memory_bytes;
  return flat;
}

LanesOptions lanes_on(const Topology& topology, std::uint32_t wanted, CoreShare share, ProcessId process) {
  LanesOptions lanes;
  lanes.process_name = to_string(process);
  std::vector<LaneSite> sites;
  for (const PlannedLane& lane : plan_lanes(topology, {share.rank, share.size, wanted})) {
    lanes.cores.push_back(lane.pinned_to ? static_cast<int>(lane.pinned_to->os_index) : -1);
    if (!lane.may_spin) lanes.spin = Duration{0};
    sites.push_back({{}, process, static_cast<std::uint32_t>(sites.size()), lane.pinned_to});
  }
  for (const LaneSite& thief : sites) {
    std::vector<std::uint32_t>& order = lanes.victims.emplace_back();
    for (const Rung& rung : victim_ladder(thief, sites)) {
      for (const LaneSite& victim : rung.lanes) order.push_back(victim.lane);
    }
  }
  return lanes;
}

}  // namespace dag
