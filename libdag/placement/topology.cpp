#include "libdag/placement/topology.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace dag {

Topology flat_topology(std::uint32_t cores) {
  Topology topology;
  for (std::uint32_t core = 0; core < cores; ++core)
    topology.threads.push_back({.os_index = core, .core = core, .l2 = core});
  return topology;
}

Status check(const Topology& topology) {
  const auto refuse = [](std::string what) {
    return Error{ErrorCode::configuration_invalid, std::move(what), "lanes can be run unpinned"};
  };
  if (topology.threads.empty()) return refuse("the topology has no hardware thread that we may use");
  std::set<std::uint32_t> seen;
  std::map<std::uint32_t, HardwareThread> cores;
  for (const HardwareThread& thread : topology.threads) {
    if (!seen.insert(thread.os_index).second) {
      return refuse("hardware thread " + std::to_string(thread.os_index) + " appears twice in the topology");
    }
    const auto [at, is_new] = cores.emplace(thread.core, thread);
    const HardwareThread& sibling = at->second;
    if (!is_new && std::tie(sibling.l2, sibling.l3, sibling.numa_node, sibling.package) !=
                       std::tie(thread.l2, thread.l3, thread.numa_node, thread.package)) {
      return refuse("core " + std::to_string(thread.core) + " lies in two places of the topology");
    }
  }
  return Done{};
}

std::vector<std::vector<HardwareThread>> cores_in_order(const Topology& topology) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::vector<HardwareThread>> cores;
  for (const HardwareThread& thread : topology.threads) {
    cores[{thread.package, thread.numa_node, thread.l3, thread.l2, thread.core}].push_back(thread);
  }
  std::vector<std::vector<HardwareThread>> result;
  for (auto& [key, threads] : cores) {
    std::sort(threads.begin(), threads.end(),
              [](const HardwareThread& a, const HardwareThread& b) { return a.os_index < b.os_index; });
    result.push_back(std::move(threads));
  }
  return result;
}

std::string_view name(Distance distance) {
  switch (distance) {
    case Distance::same_lane:
      return "same lane";
    case Distance::smt_sibling:
      return "SMT sibling";
    case Distance::shared_l2:
      return "shared L2";
    case Distance::shared_l3:
      return "shared L3";
    case Distance::numa_node:
      return "NUMA node";
    case Distance::package:
      return "package";
    case Distance::process:
      return "process";
    case Distance::host:
      return "host";
    case Distance::cluster:
      return "cluster";
  }
  return "unknown";
}

Distance distance(const LaneSite& a, const LaneSite& b) {
  if (a.host != b.host) return Distance::cluster;
  if (a.process != b.process) return Distance::host;
  if (a.lane == b.lane) return Distance::same_lane;
  if (!a.pinned_to || !b.pinned_to) return Distance::process;
  const HardwareThread &x = *a.pinned_to, &y = *b.pinned_to;
  // Levels do not nest the same way on all machines (an L3 may span NUMA nodes or lie within one): the
  // nearest thing shared decides.
  if (x.core == y.core) return Distance::smt_sibling;
  if (x.l2 == y.l2) return Distance::shared_l2;
  if (x.l3 == y.l3) return Distance::shared_l3;
  if (x.numa_node == y.numa_node) return Distance::numa_node;
  if (x.package == y.package) return Distance::package;
  return Distance::process;
}

std::vector<Rung> victim_ladder(const LaneSite& thief, const std::vector<LaneSite>& lanes) {
  std::map<Distance, std::vector<LaneSite>> rungs;
  const auto self = std::find_if(lanes.begin(), lanes.end(), [&](const LaneSite& lane) {
    return distance(thief, lane) == Distance::same_lane;
  });
  const auto add = [&](auto first, auto last) {
    for (auto at = first; at != last; ++at) {
      const Distance away = distance(thief, *at);
      if (away != Distance::same_lane) rungs[away].push_back(*at);
    }
  };
  add(self, lanes.end());
  add(lanes.begin(), self);
  std::vector<Rung> ladder;
  for (auto& [away, sites] : rungs) ladder.push_back({away, std::move(sites)});
  return ladder;
}

}  // namespace dag
