// The meaning of a family: the tasks and edges that would be written out without it, and the cases in which
// it is no formula any more.

#include "libdag/graph/family.hpp"

#include <catch2/catch.hpp>
#include <dag/dag.hpp>

#include "libdag/graph/check.hpp"
#include "tests/support/edges.hpp"

using namespace dag;
using detail::ArgumentKind;

namespace {

double sum(Point at, std::vector<double> before, double more) {
  double all = at.row + 0.5 * at.column + more;
  for (const double one : before) all += one;
  return all;
}

std::vector<std::uint32_t> predecessors(const detail::Fragment& graph, std::uint32_t task) {
  std::vector<std::uint32_t> tasks;
  for (const detail::EdgeEnd end : graph.in_edges(task)) tasks.push_back(end.task());
  return tasks;
}

Error error_of(auto&& what) {
  try {
    what();
  } catch (const Failure& failure) {
    return failure.error();
  }
  FAIL("nothing was thrown");
  return {};
}

}  // namespace

TEST_CASE("a family has the tasks and edges of the loops that it replaces", "[family]") {
  const Range range = GENERATE(Range{1, 1}, Range{7, 1}, Range{1, 7}, Range{5, 4}, Range{3, 64});
  const std::vector<Offset> before =
      GENERATE(std::vector<Offset>{}, std::vector<Offset>{{-1, 0}}, std::vector<Offset>{{0, -1}, {-1, 0}},
               std::vector<Offset>{{-1, -1}, {-1, 0}, {-1, 1}}, std::vector<Offset>{{-2, 3}, {0, -5}});
  const bool first = GENERATE(false, true);  // whether another task lies before
  Graph formula("formula"), loops("loops");
  if (first) {
    formula.task("first", [] { return 1; });
    loops.task("first", [] { return 1; });
  }
  const Family<double> family = formula.family("cell", range, sum, before, 0.25);
  formula.task(
      "last", [](double x) { return x; }, family.at(range.rows - 1, range.columns - 1));

  std::vector<Output<double>> cells;
  const auto get = [&](std::int64_t row, std::int64_t column) {
    return cells[static_cast<std::size_t>(row * range.columns + column)];
  };
  for (std::int64_t row = 0; row < range.rows; ++row) {
    for (std::int64_t column = 0; column < range.columns; ++column) {
      std::vector<Output<double>> those;
      for (const Offset offset : before) {
        const std::int64_t r = row + offset.rows, c = column + offset.columns;
        if (r >= 0 && c >= 0 && c < range.columns) those.push_back(get(r, c));
      }
      const Point at{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column)};
      cells.push_back(loops.task("cell", sum, at, those, 0.25));
    }
  }
  loops.task(
      "last", [](double x) { return x; }, cells.back());

  const detail::Fragment &a = *formula.builder().seal(), &b = *loops.builder().seal();
  REQUIRE(check(a));
  REQUIRE(a.size() == b.size());
  CHECK(a.first_edge == b.first_edge);
  CHECK(a.edges == b.edges);
  for (std::uint32_t task = 0; task < a.size(); ++task) {
    CHECK(a.name(task) == b.name(task));
    CHECK(a.policy(task) == b.policy(task));
    const auto of_a = a.arguments_of(task), of_b = b.arguments_of(task);
    REQUIRE(of_a.size() == of_b.size());
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      CHECK(is_input(of_a[i].kind) == is_input(of_b[i].kind));
      CHECK(of_a[i].count == of_b[i].count);
      if (is_input(of_a[i].kind)) {
        CHECK(of_a[i] == of_b[i]);
      } else {
        CHECK(argument_value(a, task, of_a[i]).same_bytes(argument_value(b, task, of_b[i])));
      }
    }
  }
  REQUIRE(a.families.size() == 1);
  CHECK_FALSE(a.families.front().written_out);
}

TEST_CASE("a family takes outputs that all wait for, and another family's one by one", "[family]") {
  Graph g("inputs");
  const auto scale = g.task("scale", [] { return 3.0; });
  const auto source = g.family("source", Range{2, 3}, [](Point at) { return int(at.column); }, {});
  const auto sink = g.family(
      "sink", Range{2, 3}, [](Point, std::vector<double>, double by, int x) { return by * x; }, {{-1, 0}},
      scale, source);
  const detail::Fragment& graph = *g.builder().seal();
  CHECK(predecessors(graph, source.at(1, 2).index()).empty());
  CHECK(predecessors(graph, sink.at(0, 1).index()) == std::vector{scale.index(), source.at(0, 1).index()});
  CHECK(predecessors(graph, sink.at(1, 2).index()) ==
        std::vector{sink.at(0, 2).index(), scale.index(), source.at(1, 2).index()});
  CHECK(check(graph));
  const Error other = error_of([&] {
    g.family(
        "wider", Range{2, 4}, [](Point, int x) { return x; }, {}, source);
  });
  CHECK(other.code == ErrorCode::usage);
  CHECK_THAT(other.what, Catch::Contains("2 x 4") && Catch::Contains("2 x 3"));
}

TEST_CASE("what is said of a family is said of each of its tasks", "[family]") {
  Graph g("said");
  const auto other = g.task("cell", [] { return 1; });
  const auto family =
      g.family("cell", Range{3, 2}, sum, {{-1, 0}}, 0.0).priority(high).retry({.attempts = 3});
  const auto effects = g.family("effects", Range{4}, [](Point) {}, {{-1, 0}});
  const auto refused = check(*g.builder().seal());
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, Catch::Contains("declare its effects"));
  effects.effects(idempotent);
  const detail::Fragment& graph = *g.builder().seal();
  CHECK(check(graph));
  CHECK(graph.policy(other.index()) == Policy{});
  for (std::uint32_t row = 0; row < 3; ++row) {
    for (const Output<double>& one : family.row(row)) {
      CHECK(graph.policy(one.index()).priority == high);
      CHECK(graph.policy(one.index()).retry.attempts == 3);
    }
  }
  CHECK(graph.policy(effects.at(3).index()).effects == idempotent);
  for (const detail::FamilyDraft& one : graph.families) {
    CHECK_FALSE(one.written_out);
    for (std::uint32_t task = one.first_task; task < one.first_task + one.size(); ++task) {
      const auto inside = std::count_if(graph.in_edges(task).begin(), graph.in_edges(task).end(),
                                        [&](detail::EdgeEnd end) { return one.has(end.task()); });
      CHECK(one.kinds[static_cast<std::size_t>(inside)] == graph.task_kinds[task]);
    }
  }
}

TEST_CASE("a family is written out when one of its tasks is not like the others", "[family]") {
  Graph g("one of them");
  const auto family = g.family("cell", Range{3, 2}, sum, {{-1, 0}}, 0.0);
  const auto untouched = g.family("cell", Range{3, 2}, sum, {{-1, 0}}, 0.0);
  const bool by_policy = GENERATE(false, true);
  if (by_policy) {
    family.at(1, 1).priority(urgent);
  } else {
    family.at(1, 1).after(family.at(1, 0));
  }
  const detail::Fragment& graph = *g.builder().seal();
  REQUIRE(graph.families.size() == 2);
  CHECK(graph.families[0].written_out);
  CHECK_FALSE(graph.families[1].written_out);
  CHECK(graph.policy(family.at(1, 1).index()).priority == (by_policy ? urgent : normal));
  CHECK(graph.policy(family.at(1, 0).index()).priority == normal);
  CHECK(graph.in_edges(family.at(1, 1).index()).size() == (by_policy ? 1u : 2u));
  CHECK(graph.family_of(family.at(2, 1).index())->point_of(family.at(2, 1).index()) == Point{2, 1});
  CHECK(graph.family_of(untouched.at(0, 0).index())->point_of(untouched.at(0, 0).index()) == Point{0, 0});
  CHECK(check(graph));
}

TEST_CASE("a family that makes no sense is refused, and the graph goes on without it", "[family]") {
  Graph g("refused");
  const auto before = g.task("before", [] { return 1; });
  const auto refused = [&](Range range, std::vector<Offset> offsets) {
    const Error error = error_of([&] { g.family("cell", range, sum, offsets, 0.0); });
    CHECK(error.code == ErrorCode::usage);
    CHECK_FALSE(error.hint.empty());
    return error.what;
  };
  CHECK_THAT(refused({4, 4}, {{0, 0}}), Catch::Contains("'cell'") && Catch::Contains("behind it"));
  CHECK_THAT(refused({4, 4}, {{1, 0}}), Catch::Contains("behind it"));
  CHECK_THAT(refused({4, 4}, {{-1, 0}, {0, 1}}), Catch::Contains("behind it"));
  CHECK_THAT(refused({0, 4}, {}), Catch::Contains("empty"));
  CHECK_THAT(refused({4, 0}, {}), Catch::Contains("empty"));
  CHECK_THAT(refused({1 << 20, 1 << 20}, {}), Catch::Contains("too many tasks"));
  CHECK_THAT(refused({0xFFFFFFFF, 0xFFFFFFFF}, {}), Catch::Contains("too many tasks"));
  CHECK_THAT(refused({5'000'000, 1}, std::vector<Offset>(200, {-1, 0})), Catch::Contains("too many edges"));
  CHECK(g.size() == 1);
  const auto family = g.family("cell", Range{2, 2}, sum, {{-1, 0}}, 0.0);
  CHECK(error_of([&] { family.at(2, 0); }).code == ErrorCode::usage);
  CHECK(error_of([&] { family.at(0, 2); }).code == ErrorCode::usage);
  Graph another("another");
  CHECK(error_of([&] {
          another.family(
              "taker", Range{2, 2}, [](Point, double x) { return x; }, {}, family);
        }).code == ErrorCode::handle_foreign);
  CHECK(before.index() == 0);
  CHECK(check(*g.builder().seal()));
}
