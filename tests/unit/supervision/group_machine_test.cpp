// A group over its life: members that wait for each other, and the end of its patience.
#include "libdag/supervision/group_machine.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant at(Duration since_start) { return Instant{since_start}; }
constexpr std::uint32_t children = 4;

std::vector<std::uint32_t> held_back(const GroupMachine& group) {
  std::vector<std::uint32_t> held;
  for (std::uint32_t child = 0; child < children; ++child) {
    if (group.held_back(ChildId{child})) held.push_back(child);
  }
  return held;
}

}  // namespace

TEST_CASE("those who start together with a fallen child wait until it may start, or has ended") {
  struct Row {
    Strategy strategy;
    std::vector<std::uint32_t> held;
  };
  const auto row = GENERATE(Row{Strategy::one_for_one, {}}, Row{Strategy::rest_for_one, {2, 3}},
                            Row{Strategy::one_for_all, {0, 2, 3}});
  const Exit why = GENERATE(Exit::failed, Exit::lost);
  GroupMachine group(row.strategy, {.restarts = 2, .period = 10s}, children);
  CHECK(held_back(group).empty());
  REQUIRE(std::holds_alternative<RestartChildren>(group.on_child_down(ChildId{1}, why, at(0s))));
  CHECK(held_back(group) == row.held);
  CHECK_FALSE(group.on_may_start(ChildId{2}));
  CHECK(held_back(group) == row.held);
  CHECK((GENERATE(true, false) ? group.on_may_start(ChildId{1}) : group.on_ended(ChildId{1})));
  CHECK(held_back(group).empty());
  CHECK_FALSE(group.on_may_start(ChildId{1}));
}

TEST_CASE("two that fell wait for each other only until each may start by itself") {
  GroupMachine group(Strategy::one_for_all, {.restarts = 2, .period = 10s}, children);
  group.on_child_down(ChildId{0}, Exit::failed, at(0s));
  group.on_child_down(ChildId{3}, Exit::failed, at(0s));
  CHECK(held_back(group) == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(group.on_may_start(ChildId{3}));
  CHECK(held_back(group) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(group.on_may_start(ChildId{0}));
  CHECK(held_back(group).empty());
}

TEST_CASE("a group gives up at one failure too many within the period, and then wants nobody again") {
  const Strategy strategy = GENERATE(Strategy::one_for_one, Strategy::rest_for_one, Strategy::one_for_all);
  GroupMachine group(strategy, {.restarts = 2, .period = 10s}, children);
  group.on_child_down(ChildId{0}, Exit::failed, at(0s));
  group.on_child_down(ChildId{1}, Exit::lost, at(1s));
  group.on_child_down(ChildId{1}, Exit::failed, at(9s));
  // The first one is forgotten by now.
  CHECK(std::holds_alternative<RestartChildren>(group.on_child_down(ChildId{2}, Exit::failed, at(10s))));
  CHECK_FALSE(group.gave_up());
  CHECK(group.on_child_down(ChildId{3}, Exit::failed, at(11s)) == Verdict(Escalate{ChildId{3}}));
  CHECK(group.gave_up());
  CHECK(group.on_child_down(ChildId{3}, Exit::failed, at(100s)) == Verdict(Forget{ChildId{3}}));
}

TEST_CASE("a group that gave up because a child failed for good starts nobody again") {
  GroupMachine group(Strategy::one_for_all, {}, children);
  group.give_up();
  CHECK(group.on_child_down(ChildId{0}, Exit::lost, at(0s)) == Verdict(Forget{ChildId{0}}));
}

TEST_CASE("who is held back is who would be stopped: over random events, nobody is forgotten") {
  Random random(GENERATE(range(1u, 20u)));
  const auto strategy = static_cast<Strategy>(random.below(3));
  GroupMachine group(strategy, {.restarts = 1000, .period = 1s}, children);
  std::set<std::uint32_t> down;
  for (int step = 0; step < 300; ++step) {
    const ChildId child{static_cast<std::uint32_t>(random.below(children))};
    if (random.chance(0.5)) {
      const auto verdict = std::get<RestartChildren>(
          group.on_child_down(child, random.chance(0.5) ? Exit::failed : Exit::lost, at(1ms * step)));
      down.insert(child.value);
      for (const ChildId stopped : verdict.stop) REQUIRE(group.held_back(stopped));
      for (const ChildId started : verdict.start) REQUIRE(group.restarts_with(child, started));
      REQUIRE(verdict.stop.size() + 1 == verdict.start.size());
    } else {
      REQUIRE(group.on_may_start(child) == (down.erase(child.value) > 0));
    }
    if (down.empty()) REQUIRE(held_back(group).empty());
  }
}
