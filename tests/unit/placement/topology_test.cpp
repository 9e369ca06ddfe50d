// Distances between lanes, and the ladder of victims they give.
#include "libdag/placement/topology.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "libdag/base/random.hpp"

using namespace dag;

namespace {

/// Two packages, each two NUMA nodes of two L3s, each two cores of two threads; cores share an L2 in pairs.
Topology big_topology() {
  Topology topology;
  for (std::uint32_t index = 0; index < 32; ++index) {
    const std::uint32_t core = index / 2;
    topology.threads.push_back({.os_index = index,
                                .core = core,
                                .l2 = core / 2,
                                .l3 = core / 4,
                                .numa_node = core / 4,
                                .package = core / 8});
  }
  return topology;
}

LaneSite site(std::uint32_t lane, std::uint32_t process = 1, std::uint64_t host = 1) {
  return {HostId{host}, ProcessId{process}, lane, big_topology().threads.at(lane)};
}

}  // namespace

TEST_CASE("the nearest thing shared is the distance") {
  struct Row {
    LaneSite other;
    Distance distance;
  };
  LaneSite unpinned = site(9);
  unpinned.pinned_to.reset();
  const auto row = GENERATE_COPY(Row{site(0), Distance::same_lane}, Row{site(1), Distance::smt_sibling},
                                 Row{site(2), Distance::shared_l2}, Row{site(4), Distance::shared_l3},
                                 Row{site(8), Distance::package}, Row{site(16), Distance::process},
                                 Row{unpinned, Distance::process}, Row{site(1, 2), Distance::host},
                                 Row{site(0, 1, 2), Distance::cluster});
  CHECK(distance(site(0), row.other) == row.distance);
  CHECK(distance(row.other, site(0)) == row.distance);
  INFO(name(row.distance));
}

TEST_CASE("two L3s of one NUMA node are a NUMA node apart") {
  LaneSite a{HostId{1}, ProcessId{1}, 0, HardwareThread{.os_index = 0, .core = 0, .l2 = 0, .l3 = 0}};
  LaneSite b{HostId{1}, ProcessId{1}, 1, HardwareThread{.os_index = 1, .core = 1, .l2 = 1, .l3 = 1}};
  CHECK(distance(a, b) == Distance::numa_node);
}

TEST_CASE("distance is symmetric for random lanes") {
  Random random(1);
  for (int pair = 0; pair < 2000; ++pair) {
    const auto some = [&] {
      LaneSite lane = site(static_cast<std::uint32_t>(random.below(32)),
                           static_cast<std::uint32_t>(random.below(3)), random.below(2));
      if (random.chance(0.1)) lane.pinned_to.reset();
      return lane;
    };
    const LaneSite a = some(), b = some();
    REQUIRE(distance(a, b) == distance(b, a));
  }
}

TEST_CASE("the ladder holds every other lane once, nearest first, and begins behind the thief") {
  std::vector<LaneSite> lanes;
  for (std::uint32_t lane = 0; lane < 32; ++lane) lanes.push_back(site(lane));
  for (std::uint32_t lane = 0; lane < 4; ++lane) lanes.push_back(site(lane, 2));
  for (std::uint32_t lane = 0; lane < 4; ++lane) lanes.push_back(site(lane, 3, 2));
  const LaneSite thief = lanes[9];
  const auto ladder = victim_ladder(thief, lanes);
  std::size_t count = 0;
  for (std::size_t rung = 0; rung < ladder.size(); ++rung) {
    if (rung > 0) CHECK(ladder[rung - 1].distance < ladder[rung].distance);
    for (const LaneSite& lane : ladder[rung].lanes) {
      CHECK(distance(thief, lane) == ladder[rung].distance);
      ++count;
    }
  }
  CHECK(count == lanes.size() - 1);
  REQUIRE(ladder[0].lanes == std::vector{lanes[8]});
  REQUIRE(ladder[1].lanes == std::vector{lanes[10], lanes[11]});
  // Package: 10.. of the same L3 first, then from the beginning.
  CHECK(ladder[2].distance == Distance::shared_l3);
  CHECK(ladder[2].lanes.front() == lanes[12]);
  CHECK(victim_ladder(thief, {thief}).empty());
}

TEST_CASE("cores come in the order of their neighbourhood, whatever the order of the threads") {
  Topology topology = big_topology();
  const auto expected = cores_in_order(topology);
  REQUIRE(expected.size() == 16);
  Random random(3);
  std::shuffle(topology.threads.begin(), topology.threads.end(), random);
  CHECK(cores_in_order(topology) == expected);
  for (const auto& core : expected) CHECK(core.size() == 2);
}

TEST_CASE("a topology that cannot be is refused with what is wrong") {
  CHECK(check(big_topology()));
  CHECK(check(flat_topology(1)));
  CHECK(check(Topology{}).error().what == "the topology has no hardware thread that we may use");
  Topology twice = flat_topology(2);
  twice.threads[1].os_index = 0;
  CHECK(check(twice).error().what == "hardware thread 0 appears twice in the topology");
  Topology torn = big_topology();
  torn.threads[1].package = 1;
  CHECK(check(torn).error().what == "core 0 lies in two places of the topology");
}
