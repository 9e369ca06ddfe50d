// The nodes of one host divide its cores.
#include "libdag/placement/lane_plan.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "libdag/base/check.hpp"

using namespace dag;

TEST_CASE("the plans of all nodes cover every core once, in equal contiguous shares") {
  const auto cores = GENERATE(1u, 2u, 3u, 7u, 16u, 33u);
  const auto nodes = GENERATE(1u, 2u, 3u, 5u, 16u);
  const Topology topology = flat_topology(cores);
  if (cores < nodes) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      CHECK(plan_lanes(topology, {node, nodes}) == std::vector<PlannedLane>{{std::nullopt, false}});
    }
    return;
  }
  std::uint32_t next = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const auto plan = plan_lanes(topology, {node, nodes});
    CHECK(plan.size() >= cores / nodes);
    CHECK(plan.size() <= (cores + nodes - 1) / nodes);
    for (const PlannedLane& lane : plan) {
      REQUIRE(lane.pinned_to);
      CHECK(lane.pinned_to->core == next++);
      CHECK(lane.may_spin);
    }
  }
  CHECK(next == cores);
}

TEST_CASE("one lane per core, on its first thread") {
  Topology topology;
  for (std::uint32_t index = 0; index < 8; ++index) {
    // As Linux numbers them: siblings are half the machine apart.
    topology.threads.push_back({.os_index = index, .core = index % 4, .l2 = index % 4});
  }
  const auto plan = plan_lanes(topology, {});
  REQUIRE(plan.size() == 4);
  for (std::uint32_t lane = 0; lane < 4; ++lane) CHECK(plan[lane].pinned_to->os_index == lane);
}

TEST_CASE("fewer lanes than the share stay pinned, more are not and never spin") {
  const Topology topology = flat_topology(8);
  const auto few = plan_lanes(topology, {.node_index = 1, .node_count = 2, .lanes = 2});
  REQUIRE(few.size() == 2);
  CHECK(few[0].pinned_to->core == 4);
  const auto many = plan_lanes(topology, {.node_index = 0, .node_count = 2, .lanes = 6});
  CHECK(many == std::vector<PlannedLane>(6));
  CHECK(plan_lanes(flat_topology(1), {.node_index = 0, .node_count = 2, .lanes = 3}).size() == 3);
}

TEST_CASE("a node beyond the count is our bug") {
  CHECK_THROWS_AS(plan_lanes(flat_topology(2), {.node_index = 2, .node_count = 2}), Bug);
}
