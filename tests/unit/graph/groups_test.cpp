// Groups as they are written down: their members, refused groups, and that a group is never cut.
#include <catch2/catch.hpp>
#include <dag/dag.hpp>

#include "libdag/base/random.hpp"
#include "libdag/graph/blocks.hpp"
#include "libdag/graph/check.hpp"
#include "libdag/graph/partition.hpp"
#include "tests/support/random_graph.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

int one() { return 1; }
void nothing() {}

struct Counter {
  int n = 0;
  int add(int x) { return n += x; }
};

Error error_of(auto&& what) {
  try {
    what();
  } catch (const Failure& failure) {
    CHECK_FALSE(failure.error().hint.empty());
    return failure.error();
  }
  FAIL("nothing was thrown");
  return {};
}

Error refused(const Graph& graph) {
  const Status status = check(*graph.builder().seal());
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::usage);
  CHECK_FALSE(status.error().hint.empty());
  return status.error();
}

}  // namespace

TEST_CASE("groups: tasks and families are members, in the order of their adding") {
  Graph graph("groups");
  const auto alone = graph.task("alone", one);
  const auto gang = graph.group("workers", one_for_all, {.restarts = 5, .period = 90s});
  const auto other = graph.group("others", rest_for_one);
  graph.task("a", one).in(gang).retry({.attempts = 2});
  graph.family("f", Range{2}, [](Point) { return 1; }, {}).in(gang);
  graph.task("nothing", nothing).effects(idempotent).in(other).in(other);
  const auto fragment = graph.builder().seal();
  REQUIRE(check(*fragment));
  REQUIRE(fragment->groups.size() == 2);
  CHECK(fragment->names[fragment->groups[0].name] == "workers");
  CHECK(fragment->groups[0].strategy == Strategy::one_for_all);
  CHECK(fragment->groups[0].intensity == Intensity{5, 90s});
  CHECK(fragment->groups[1].intensity == Intensity{3, 60s});
  CHECK_FALSE(fragment->policy(alone.index()).group);
  for (std::uint32_t task = 1; task < 4; ++task) CHECK(fragment->policy(task).group == 0u);
  CHECK(fragment->policy(1).retry.attempts == 2);
  CHECK(fragment->policy(4).group == 1u);
  CHECK(blocks(*fragment) == std::vector<std::uint32_t>{0, 1, 1, 1, 2});
}

TEST_CASE("groups: a member has one group, of its own graph") {
  Graph graph("groups"), foreign("foreign");
  const auto gang = graph.group("workers", one_for_all);
  const auto task = graph.task("a", one).in(gang);
  const Error two = error_of([&] { task.in(graph.group("others", one_for_one)); });
  CHECK(two.code == ErrorCode::usage);
  CHECK(two.what == "a task cannot be a member of two groups");
  CHECK(graph.builder().seal()->policy(task.index()).group == gang.index());
  CHECK(error_of([&] { foreign.task("b", one).in(gang); }).code == ErrorCode::handle_foreign);
  const auto family = foreign.family("f", Range{2}, [](Point) { return 1; }, {});
  CHECK(error_of([&] { family.in(gang); }).code == ErrorCode::handle_foreign);
}

TEST_CASE("groups: what cannot be started again in a group is refused, and what could only give up") {
  Graph graph("groups");
  SECTION("no restarts") {
    graph.group("workers", one_for_one, {.restarts = 0});
    CHECK(refused(graph).what == "the group 'workers' allows no restarts, so it could only give up");
  }
  SECTION("too many restarts") {
    graph.group("workers", one_for_one, {.restarts = 1001});
    CHECK(refused(graph).what == "the group 'workers' allows 1001 restarts");
  }
  SECTION("no period") {
    graph.group("workers", one_for_one, {.restarts = 1, .period = 0s});
    CHECK(refused(graph).what == "the group 'workers' counts restarts over 0 s");
  }
  SECTION("a call") {
    graph.actor<Counter>("counter").call<&Counter::add>(1).in(graph.group("workers", one_for_one));
    CHECK_THAT(refused(graph).what,
               Catch::EndsWith("add#1 belongs to a job actor, and is a member of the group 'workers'"));
  }
  SECTION("at most once") {
    graph.task("ship", nothing).effects(at_most_once).in(graph.group("workers", one_for_one));
    CHECK(
        refused(graph).what ==
        "task ship#0 may run only once, and is a member of the group 'workers', which starts members again");
  }
  SECTION("exclusive") {
    graph.task("ship", nothing).effects(exclusive).in(graph.group("workers", one_for_one));
    CHECK(refused(graph).what ==
          "task ship#0 is declared exclusive, and is a member of the group 'workers', which starts members "
          "again while their last attempt may still run");
  }
}

TEST_CASE("groups: a partition never cuts one, nor what is tied to its members") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const detail::Fragment fragment = test::random_graph(random, {.actors_max = 3, .groups = true}).fragment;
    REQUIRE(check(fragment));
    const auto shard_of = partition(fragment, 1 + static_cast<std::uint32_t>(random.below(9)));
    std::map<std::uint32_t, ShardIndex> shard_of_group;
    for (std::uint32_t task = 0; task < fragment.size(); ++task) {
      const auto group = fragment.policy(task).group;
      if (!group) continue;
      REQUIRE(shard_of_group.try_emplace(*group, shard_of[task]).first->second == shard_of[task]);
    }
  }
}
