// Which members of a group restart together, which are held back, and what a group orders that gives up.
#include "libdag/home/task_groups.hpp"

#include "tests/unit/home/rows_of.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;

namespace {

/// Members a, b and c in this order, of which c waits for a task outside the group.
struct Gang {
  explicit Gang(Strategy strategy, std::uint32_t restarts = 2) : rows(graph(strategy)) {
    for (const RowIndex member : {a, b, c}) rows.rows.set(member, flag::member);
    groups.add("workers", GroupMachine(strategy, {.restarts = restarts, .period = 60s}, 3), {a, b, c});
  }
  TaskGroups::Consequences down(RowIndex member, Exit why = Exit::failed) {
    groups.went_down(member, why, Error{ErrorCode::task_failed, "broke"});
    TaskGroups::Consequences what = groups.take_news(Instant{});
    groups.check_invariants();
    return what;
  }
  std::vector<RowIndex> held_back() const {
    std::vector<RowIndex> held;
    for (const RowIndex member : {a, b, c}) {
      if (groups.holds_back(member)) held.push_back(member);
    }
    return held;
  }
  static detail::Fragment graph(Strategy strategy) {
    Names names;
    const TaskId outside = names.task("before"), first = names.task("a"), second = names.task("b"),
                 third = names.task("c", {outside});
    names.group("workers", strategy, {}, {first, second, third});
    return names.builder.sealed();
  }
  static constexpr RowIndex before = 0, a = 1, b = 2, c = 3;
  RowsOf rows;
  TaskGroups groups{rows.rows};
};

std::vector<RowIndex> list(std::span<const RowIndex> rows) { return {rows.begin(), rows.end()}; }

using Rows = std::vector<RowIndex>;
constexpr RowIndex a = Gang::a, b = Gang::b, c = Gang::c;

}  // namespace

TEST_CASE("the one that went down restarts first, and holds back those that restart with it") {
  const auto [strategy, restarts, held] =
      GENERATE(table<Strategy, Rows, Rows>({{Strategy::one_for_one, {b}, {}},
                                            {Strategy::rest_for_one, {b, c}, {c}},
                                            {Strategy::one_for_all, {b, c, a}, {a, c}}}));
  Gang gang(strategy);
  const TaskGroups::Consequences what = gang.down(b);
  CHECK(what.restarts == restarts);
  CHECK(what.why_restarted == "the group 'workers' starts again with " + gang.rows.rows.describe(b));
  CHECK(what.ends.empty());
  CHECK(gang.held_back() == held);
  CHECK(list(gang.groups.may_start(b)) == Rows{a, b, c});
  CHECK(gang.held_back().empty());
  CHECK(gang.groups.may_start(b).empty());  // The member was not down any more.
}

TEST_CASE("a member that ended holds back nobody, and news of it comes to nothing") {
  Gang gang(Strategy::one_for_all);
  gang.down(b);
  gang.rows.end(b);
  const TaskGroups::Ended ended = gang.groups.ended(b);
  CHECK(list(ended.look_again) == Rows{a, b, c});
  CHECK_FALSE(ended.gives_up);
  CHECK(gang.held_back().empty());
  CHECK(gang.down(b).restarts.empty());
}

TEST_CASE("above its intensity a group gives up: the one that failed ends, then the others") {
  Gang gang(Strategy::one_for_one, 0);
  CHECK(gang.down(b, Exit::lost).restarts == Rows{b});  // A loss is free.
  const TaskGroups::Consequences first = gang.down(b);
  CHECK(first.restarts.empty());
  REQUIRE(first.ends.size() == 1);
  CHECK(first.ends[0].member == b);
  CHECK(first.ends[0].outcome == Outcome::failed);
  CHECK(first.ends[0].why.what == gang.rows.rows.describe(b) + " failed, and the group 'workers' gave up");

  gang.rows.end(a);
  gang.rows.end(b, Outcome::failed);
  gang.rows.rows.fact_of(b).error = first.ends[0].why;
  CHECK_FALSE(gang.groups.ended(a).gives_up);
  CHECK(gang.groups.ended(b).gives_up);
  REQUIRE(gang.groups.has_news());
  const TaskGroups::Consequences then = gang.groups.take_news(Instant{});
  REQUIRE(then.ends.size() == 1);  // a has done its part.
  CHECK(then.ends[0].member == c);
  CHECK(then.ends[0].outcome == Outcome::cancelled);
  CHECK(then.ends[0].why.cause.find(first.ends[0].why.what) != std::string::npos);
  gang.groups.check_invariants();
}

TEST_CASE("a member that became other tasks does not end its group when they fail") {
  Gang gang(Strategy::one_for_all);
  gang.rows.rows.set(a, flag::grown);
  gang.rows.end(a, Outcome::failed);
  CHECK_FALSE(gang.groups.ended(a).gives_up);
  CHECK_FALSE(gang.groups.has_news());
}

TEST_CASE("a group that gave up restarts nobody, and leaves alone who became other tasks") {
  Gang gang(Strategy::one_for_all);
  gang.rows.rows.set(a, flag::grown);
  CHECK(gang.groups.restart_with_lost({b, c}).empty());  // As its attempt is fixed, it was not lost.
  gang.rows.end(b, Outcome::failed);
  CHECK(gang.groups.ended(b).gives_up);
  const TaskGroups::Consequences what = gang.groups.take_news(Instant{});
  REQUIRE(what.ends.size() == 1);
  CHECK(what.ends[0].member == c);
  CHECK(gang.down(c).restarts.empty());
}

TEST_CASE("a new home takes a member for lost that could have run and has no attempt") {
  Gang gang(Strategy::rest_for_one);
  CHECK(gang.groups.restart_with_lost({a, b}).empty());  // c waits, so it has not run.
  CHECK(gang.groups.restart_with_lost({a}) == Rows{b, c});
  gang.rows.settle(Gang::before);
  CHECK(gang.groups.restart_with_lost({a, b}) == Rows{c});
  CHECK(gang.groups.restart_with_lost({b, c}) == Rows{a, b, c});
  gang.rows.end(a);
  CHECK(gang.groups.restart_with_lost({b, c}).empty());
}

TEST_CASE("news that an event left behind is a bug, and so is a member that ended and is down") {
  Gang gang(Strategy::one_for_all);
  gang.groups.went_down(b, Exit::lost, std::nullopt);
  CHECK_THROWS_AS(gang.groups.check_invariants(), Bug);
  gang.groups.take_news(Instant{});
  gang.groups.check_invariants();
  gang.rows.end(b);
  CHECK_THROWS_AS(gang.groups.check_invariants(), Bug);
}
