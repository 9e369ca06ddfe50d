#include "libdag/keeper/admission.hpp"

#include <algorithm>

#include "libdag/graph/feasibility.hpp"
#include "libdag/keeper/memory_bounds.hpp"

namespace dag {
namespace {

std::string seconds(Duration duration) {
  return std::to_string(std::chrono::duration<double>(duration).count()) + " s";
}

}  // namespace

NodeDevices devices_of(ProcessId node, const LoadSummary& load) {
  NodeDevices devices{node, {}};
  for (const DeviceLoad& device : load.devices) {
    const bool cpu = device.kind == "cpu";
    const std::uint32_t free = std::min(device.lanes, device.lanes_free);
    devices.devices.push_back({device.kind,
                               {cpu ? device.lanes : 0, cpu ? 0u : 1u, device.memory_bytes},
                               {cpu ? free : 0, cpu || free == 0 ? 0u : 1u, device.memory_free_bytes}});
  }
  return devices;
}

Status admit(const detail::Fragment& graph, const std::vector<NodeDevices>& nodes) {
  std::uint32_t lanes = 0;
  MemoryBound memory{"the nodes' memory"};
  for (const NodeDevices& node : nodes) {
    for (const Device& device : node.devices) {
      lanes += device.capacity.cpus;
      if (device.kind == "cpu") memory.limit += device.capacity.memory_bytes;
    }
  }
  if (auto too_large = refusal({memory}, memory_of_job(graph).least); memory.limit != 0 && too_large)
    return *too_large;
  std::vector<bool> asked(graph.policies.size(), false);  // many kinds share one
  bool all_due = true;
  Duration latest{0};
  for (const detail::TaskKind& kind : graph.kinds) {
    if (asked[kind.policy]) continue;
    asked[kind.policy] = true;
    const Policy& policy = graph.policies[kind.policy];
    const auto able = able_nodes("'" + graph.names[kind.name] + "'", needs_of(policy.needs), nodes);
    if (!able) return able.error();
    all_due = all_due && policy.deadline.has_value();
    latest = std::max(latest, policy.deadline.value_or(Duration{0}));
  }
  // The path to each single deadline is graph/check's. Here: when all tasks are due, so is all the work.
  if (!all_due || lanes == 0) return Done{};
  const Bounds cost = bounds(graph);
  if (feasibility(cost, lanes, latest) != Feasibility::impossible) return Done{};
  return Error{ErrorCode::deadline_impossible,
               "the tasks take " + seconds(cost.work) + " in all, the cluster has " + std::to_string(lanes) +
                   " lanes, and the last deadline is after " + seconds(latest),
               "extend the deadlines, or add nodes"};
}

}  // namespace dag
