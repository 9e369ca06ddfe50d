// Settings of a task: in any order, before and after its effects; and the tasks that a handle names.

#include <catch2/catch.hpp>
#include <dag/dag.hpp>

#include "libdag/graph/check.hpp"
#include "tests/support/edges.hpp"

using namespace dag;
using namespace std::chrono_literals;
using detail::ArgumentKind;
using detail::EdgeKind;

namespace {

void act(int) {}
int twice(int n) { return 2 * n; }
std::size_t count(const std::vector<std::uint32_t>& all) { return all.size(); }
std::uint32_t row_of(Point at) { return at.row; }

std::vector<std::uint32_t> predecessors(const detail::Fragment& graph, std::uint32_t task) {
  std::vector<std::uint32_t> tasks;
  for (const detail::EdgeEnd end : graph.in_edges(task)) tasks.push_back(end.task());
  return tasks;
}

}  // namespace

TEST_CASE("effects may be declared before and behind whatever else is said") {
  Graph graph("effects");
  const auto one = graph.task("one", twice, 1);
  const auto group = graph.group("group", one_for_one);
  const Output<void> first = graph.task("first", act, one)
                                 .effects(idempotent)
                                 .needs({.cpus = 2})
                                 .retry({.attempts = 3})
                                 .timeout(2s)
                                 .priority(high)
                                 .in(group)
                                 .after(one);
  const Output<void> last = graph.task("last", act, one)
                                .needs({.cpus = 2})
                                .retry({.attempts = 3})
                                .timeout(2s)
                                .priority(high)
                                .in(group)
                                .after(one)
                                .effects(idempotent);
  const Output<void> conditional = graph.task("conditional", act, one)
                                       .join(none_failed)
                                       .only_if(one, [](int n) { return n > 1; })
                                       .after_any_outcome(first)
                                       .takes(1s)
                                       .effects(exclusive)
                                       .deadline(1min);
  const detail::Fragment& built = *graph.builder().seal();
  CHECK(built.policy(first.index()) == built.policy(last.index()));
  CHECK(built.policy(first.index()).effects == Effects::idempotent);
  CHECK(built.edge_count(first.index()) == built.edge_count(last.index()));
  CHECK(built.policy(conditional.index()).effects == Effects::exclusive);
  CHECK(built.policy(conditional.index()).deadline == 1min);
  CHECK(built.edge_count(conditional.index()) == 3);
  CHECK(check(built));
}

TEST_CASE("a family is an argument: all that it left, row by row; and so is one of its rows") {
  const Range range = GENERATE(Range{1, 1}, Range{5, 1}, Range{3, 4});
  Graph graph("family");
  const auto before = graph.task("before", twice, 1);
  const auto cells = graph.family("cell", range, row_of, {});
  const auto sum = graph.task("all", count, cells);
  const auto row = graph.task("row", count, cells.row(range.rows - 1));
  const auto behind = graph.task("behind", twice, 1).after(cells).after_any_outcome(cells.row(0));
  static_cast<void>(before);
  const detail::Fragment& built = *graph.builder().seal();
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t i = 0; i < range.rows * range.columns; ++i) tasks.push_back(cells.at(0).index() + i);
  CHECK(predecessors(built, sum.index()) == tasks);
  CHECK(built.arguments_of(sum.index()).front().kind == ArgumentKind::gather);
  CHECK(predecessors(built, row.index()) ==
        std::vector<std::uint32_t>(tasks.end() - static_cast<std::ptrdiff_t>(range.columns), tasks.end()));
  std::size_t strong = 0, weak = 0;
  for (const detail::EdgeEnd end : built.in_edges(behind.index()))
    ++(end.kind() == EdgeKind::strong ? strong : weak);
  CHECK(strong + weak >= tasks.size());
  CHECK(strong == tasks.size());
  CHECK(check(built));
}

TEST_CASE("a family of another graph is no argument") {
  Graph graph("here"), other("there");
  const auto cells = other.family("cell", Range{2, 2}, row_of, {});
  CHECK_THROWS_AS(graph.task("all", count, cells), Failure);
}
