#include "libdag/placement/lane_plan.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"

namespace dag {

std::vector<PlannedLane> plan_lanes(const Topology& topology, const LanePlanRequest& request) {
  DAG_CHECK(request.node_count > 0);
  DAG_CHECK(request.node_index < request.node_count);
  const auto cores = cores_in_order(topology);
  const std::uint64_t count = cores.size();
  if (count < request.node_count) return std::vector<PlannedLane>(std::max(request.lanes, 1u));

  const std::uint64_t first = count * request.node_index / request.node_count;
  const std::uint64_t last = count * (request.node_index + std::uint64_t{1}) / request.node_count;
  const std::uint64_t share = last - first;
  const std::uint64_t wanted = request.lanes == 0 ? share : request.lanes;
  if (wanted > share) return std::vector<PlannedLane>(wanted);  // Lanes share cores, so none spins.
  std::vector<PlannedLane> plan;
  for (std::uint64_t lane = 0; lane < wanted; ++lane) {
    plan.push_back({cores[first + lane].front(), true});
  }
  return plan;
}

}  // namespace dag
