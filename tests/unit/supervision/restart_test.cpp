// Restart strategies as data: tables for each strategy, and the budget against a naive count.
#include "libdag/supervision/restart.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/check.hpp"
#include "libdag/base/random.hpp"
#include "libdag/supervision/cause.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant at(Duration since_start) { return Instant{since_start}; }

GroupSpec group_of(Strategy strategy, Restart restart = Restart::on_failure) {
  GroupSpec group{.strategy = strategy, .intensity = {.restarts = 2, .period = 10s}, .children = {}};
  for (std::uint32_t id = 0; id < 4; ++id) group.children.push_back({ChildId{id}, restart});
  return group;
}

std::vector<ChildId> ids(std::initializer_list<std::uint32_t> values) {
  std::vector<ChildId> result;
  for (const auto value : values) result.push_back(ChildId{value});
  return result;
}

}  // namespace

TEST_CASE("a strategy says who is stopped and started with a fallen child") {
  struct Row {
    Strategy strategy;
    std::vector<ChildId> stop, start;
  };
  const auto row = GENERATE(Row{Strategy::one_for_one, {}, ids({1})},
                            Row{Strategy::rest_for_one, ids({3, 2}), ids({1, 2, 3})},
                            Row{Strategy::one_for_all, ids({3, 2, 0}), ids({0, 1, 2, 3})});
  const GroupSpec group = group_of(row.strategy);
  RestartBudget budget(group.intensity);
  const Verdict verdict = on_child_down(group, ChildId{1}, Exit::failed, budget, at(0s));
  CHECK(verdict == Verdict(RestartChildren{row.stop, row.start}));
}

TEST_CASE("who is wanted again after which end") {
  struct Row {
    Restart restart;
    Exit why;
    bool wanted, charged;
  };
  const auto row = GENERATE(
      Row{Restart::always, Exit::finished, true, true}, Row{Restart::always, Exit::failed, true, true},
      Row{Restart::always, Exit::lost, true, false}, Row{Restart::always, Exit::cancelled, false, false},
      Row{Restart::on_failure, Exit::finished, false, false},
      Row{Restart::on_failure, Exit::failed, true, true}, Row{Restart::on_failure, Exit::lost, true, false},
      Row{Restart::on_failure, Exit::cancelled, false, false},
      Row{Restart::never, Exit::failed, false, false}, Row{Restart::never, Exit::lost, false, false});
  const GroupSpec group = group_of(Strategy::one_for_one, row.restart);
  RestartBudget budget(group.intensity);
  const Verdict verdict = on_child_down(group, ChildId{2}, row.why, budget, at(0s));
  INFO(name(row.why));
  CHECK(std::holds_alternative<RestartChildren>(verdict) == row.wanted);
  CHECK(std::holds_alternative<Forget>(verdict) == !row.wanted);
  CHECK(budget.left(at(0s)) == (row.charged ? 1 : 2));
}

TEST_CASE("one failure too many within the period escalates, one later does not") {
  const GroupSpec group = group_of(Strategy::one_for_one);
  RestartBudget budget(group.intensity);
  CHECK(std::holds_alternative<RestartChildren>(
      on_child_down(group, ChildId{0}, Exit::failed, budget, at(0s))));
  CHECK(std::holds_alternative<RestartChildren>(
      on_child_down(group, ChildId{1}, Exit::failed, budget, at(5s))));
  CHECK(on_child_down(group, ChildId{2}, Exit::failed, budget, at(9s)) == Verdict(Escalate{ChildId{2}}));
  // A loss is free even then.
  CHECK(
      std::holds_alternative<RestartChildren>(on_child_down(group, ChildId{2}, Exit::lost, budget, at(9s))));
  // The first failure is forgotten when the period has passed.
  CHECK(std::holds_alternative<RestartChildren>(
      on_child_down(group, ChildId{2}, Exit::failed, budget, at(10s))));
}

TEST_CASE("a child nobody knows is our bug") {
  const GroupSpec group = group_of(Strategy::one_for_one);
  RestartBudget budget(group.intensity);
  CHECK_THROWS_AS(on_child_down(group, ChildId{9}, Exit::failed, budget, at(0s)), Bug);
}

TEST_CASE("the budget equals a naive count over random times") {
  Random random(GENERATE(range(1u, 20u)));
  const Intensity intensity{.restarts = static_cast<std::uint32_t>(random.below(5)), .period = 1s};
  RestartBudget budget(intensity);
  std::vector<Instant> granted;
  Instant now;
  for (int step = 0; step < 500; ++step) {
    now = now + Duration(random.below(500'000'000));
    const auto recent = std::count_if(granted.begin(), granted.end(),
                                      [&](Instant then) { return now - then < intensity.period; });
    const bool expected = recent < static_cast<std::ptrdiff_t>(intensity.restarts);
    REQUIRE(budget.spend(now) == expected);
    if (expected) granted.push_back(now);
  }
}

TEST_CASE("an escalation keeps the chain of causes, nearest first") {
  const Error root{ErrorCode::task_failed, "kernel of s0/3 threw: out\nof paper", "buy paper"};
  const Error lane = escalation("lane n1/l0", {.restarts = 3, .period = 60s}, root);
  const Error device = escalation("device n1/d0", {.restarts = 1, .period = 1500ms}, lane);
  CHECK(device.code == ErrorCode::task_failed);
  CHECK(device.what == "device n1/d0 went down more than 1 times in 1.5 s");
  CHECK(device.cause ==
        "task_failed: lane n1/l0 went down more than 3 times in 60 s\n"
        "task_failed: kernel of s0/3 threw: out of paper");
  CHECK(device.hint == "buy paper");
}

TEST_CASE("a chain of causes is bounded and keeps its root") {
  Error error{ErrorCode::internal, "root"};
  for (int level = 0; level < 100; ++level) {
    error = because(Error{ErrorCode::internal, "level " + std::to_string(level)}, error);
  }
  CHECK(std::count(error.cause.begin(), error.cause.end(), '\n') + 1 ==
        static_cast<std::ptrdiff_t>(cause_lines_max));
  CHECK(error.cause.rfind("internal: level 98\n", 0) == 0);
  CHECK(error.cause.find("...\ninternal: root") != std::string::npos);
}
