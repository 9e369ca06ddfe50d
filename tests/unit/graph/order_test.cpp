#include "libdag/graph/order.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "libdag/base/random.hpp"
#include "tests/support/edges.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace dag::test;
using detail::Builder;
using detail::Edge;
using detail::Fragment;
using Indices = std::vector<std::uint32_t>;

TEST_CASE("a topological order holds every task behind its predecessors", "[order]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Fragment fragment = random_graph(random, {.actors_max = 2}).fragment;
    const Indices order = topological_order(fragment);
    REQUIRE(std::set<std::uint32_t>(order.begin(), order.end()).size() == fragment.size());
    REQUIRE(order.size() == fragment.size());
    Indices position(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    for (const Edge& edge : edges_of(fragment))
      REQUIRE(position[edge.predecessor] < position[edge.successor]);
    CHECK(find_cycle(fragment).empty());
  }
}

TEST_CASE("out-edges are the in-edges seen from the other side", "[order]") {
  Random random(GENERATE(range(0u, 20u)));
  const Fragment fragment = random_graph(random).fragment;
  const OutEdges out_edges(fragment);
  const std::vector<Edge> edges = edges_of(fragment);
  std::set<std::uint32_t> seen;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    std::uint32_t last_successor = 0;
    for (const OutEdge out : out_edges.of(task)) {
      CHECK(edges[out.edge].predecessor == task);
      CHECK(edges[out.edge].successor == out.successor);
      CHECK(out.successor >= last_successor);
      last_successor = out.successor;
      CHECK(seen.insert(out.edge).second);
    }
  }
  CHECK(seen.size() == fragment.edges.size());
}

TEST_CASE("a planted cycle is found, and is a true one", "[order]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Builder builder;
    const auto tasks = 2 + static_cast<std::uint32_t>(random.below(50));
    for (std::uint32_t i = 0; i < tasks; ++i) add(builder, "t");
    for (std::uint64_t i = random.below(150); i > 0; --i) {
      const auto to = 1 + static_cast<std::uint32_t>(random.below(tasks - 1));
      strong(builder, static_cast<std::uint32_t>(random.below(to)), to);
    }
    // A path forward, and one edge back to where it began.
    Indices path{static_cast<std::uint32_t>(random.below(tasks))};
    while (path.back() + 1 < tasks && random.chance(0.7)) {
      path.push_back(path.back() + 1 + static_cast<std::uint32_t>(random.below(tasks - path.back() - 1)));
      strong(builder, path[path.size() - 2], path.back());
    }
    builder.add_edge(path.back(), path.front(), detail::EdgeKind::weak);

    const Fragment fragment = builder.sealed();
    const Indices cycle = find_cycle(fragment);
    REQUIRE(!cycle.empty());
    CHECK(std::set<std::uint32_t>(cycle.begin(), cycle.end()).size() == cycle.size());
    CHECK(*std::min_element(cycle.begin(), cycle.end()) == cycle.front());
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const std::uint32_t from = cycle[i];
      const std::uint32_t to = cycle[(i + 1) % cycle.size()];
      const auto in_edges = fragment.in_edges(to);
      const bool there = std::any_of(in_edges.begin(), in_edges.end(),
                                     [&](detail::EdgeEnd end) { return end.task() == from; });
      REQUIRE(there);
    }
  }
}

TEST_CASE("long paths are printed with their ends", "[order]") {
  Builder builder;
  for (int i = 0; i < 40; ++i) add(builder, "t");
  const Fragment fragment = builder.sealed();
  CHECK(path_label(fragment, Indices{}).empty());
  CHECK(path_label(fragment, Indices{3}) == "t#3");
  CHECK(path_label(fragment, Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) ==
        "t#0 -> t#1 -> t#2 -> t#3 -> t#4 -> t#5 -> t#6 -> t#7 -> t#8 -> t#9 -> t#10");
  Indices forty(40);
  for (std::uint32_t i = 0; i < 40; ++i) forty[i] = i;
  CHECK(path_label(fragment, forty) ==
        "t#0 -> t#1 -> t#2 -> t#3 -> t#4 -> (30 more) -> t#35 -> t#36 -> t#37 -> t#38 -> t#39");
}
