// The way of lanes to each shard, and the ways whose unread news is lost.
#include "libdag/home/lane_ways.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/home/rows_of.hpp"

using namespace dag;
using namespace dag::test;

namespace {

constexpr Life self = life_of(0), second = life_of(1), third = life_of(2);

/// Shard 0 is at this process, shard 1 at the second, and the third has no home.
struct Cluster {
  Cluster() {
    state.lives = {self, second, third};
    state.homes = {{self, {1, 1}}, {second, {1, 1}}};
  }
  /// The change when lanes had that way to shard 1.
  LaneWays::Change from(Way way) const { return ways.change({{self, {1, 1}}, {second, {1, 1}, way}}); }

  message::JobState state;
  LaneWays ways{state, 0};
};

}  // namespace

TEST_CASE("lanes tell what they reach through memory, and others by a link if there are links") {
  Cluster some;
  CHECK(some.ways.to(second) == Way::closed);
  some.ways.set_reach({third, self}, false);
  some.ways.check_invariants();
  CHECK(some.ways.to(third) == Way::memory);
  CHECK(some.ways.to(second) == Way::closed);
  some.ways.set_reach({third, self}, true);
  CHECK(some.ways.to(second) == Way::link);
  some.state.lives = {self, third};
  CHECK(some.ways.to(second) == Way::closed);
}

TEST_CASE("no way leads to the own shard, though it is in reach") {
  Cluster some;
  some.ways.set_reach({self, second}, true);
  const LaneWays::Change change = some.from(Way::closed);
  REQUIRE(change.routes.size() == 2);
  CHECK(change.routes[0].way == Way::closed);
  CHECK(change.routes[1].way == Way::memory);
}

TEST_CASE("news is lost when a way closes, or memory is given up for a link") {
  const auto [before, after, lost] = GENERATE(table<Way, Way, bool>({{Way::closed, Way::memory, false},
                                                                     {Way::closed, Way::link, false},
                                                                     {Way::memory, Way::memory, false},
                                                                     {Way::link, Way::memory, false},
                                                                     {Way::memory, Way::link, true},
                                                                     {Way::memory, Way::closed, true},
                                                                     {Way::link, Way::closed, true}}));
  Cluster some;
  some.ways.set_reach(after == Way::memory ? std::vector{second} : std::vector<Life>{}, after == Way::link);
  const LaneWays::Change change = some.from(before);
  CHECK(change.routes[1].way == after);
  CHECK(change.lost == std::vector{false, lost});
  CHECK(change.any_lost == lost);
}

TEST_CASE("a new home of a shard has read no news, whatever the way") {
  Cluster some;
  some.ways.set_reach({second}, true);
  some.state.homes[1].epoch = {1, 2};
  CHECK(some.from(Way::memory).lost[1]);
  CHECK_FALSE(some.from(Way::closed).any_lost);
  CHECK(some.from(Way::memory).routes[1].epoch == Epoch{1, 2});
}
