// Task Bench's relations, against what its paper says of each, written out for small graphs.

#include "tools/bench/patterns.hpp"

#include <catch2/catch.hpp>
#include <string>

using dag::bench::Pattern;
using dag::bench::PatternTable;
using Points = std::vector<std::uint32_t>;

namespace {

Pattern pattern(std::string_view name, std::uint32_t width, std::uint32_t steps, std::uint32_t radix = 5) {
  return Pattern::by_name(name, {width, steps, radix}).value();
}

Points between(std::uint32_t first, std::uint32_t last) {
  Points all;
  for (std::uint32_t point = first; point <= last; ++point) all.push_back(point);
  return all;
}

}  // namespace

TEST_CASE("nobody waits in trivial, and for nobody else in no_comm") {
  CHECK(pattern("trivial", 8, 4).predecessors(2, 3).empty());
  CHECK(pattern("no_comm", 8, 4).predecessors(2, 3) == Points{3});
}

TEST_CASE("a stencil waits for itself and both neighbours, where there are any") {
  const Pattern stencil = pattern("stencil_1d", 8, 4);
  CHECK(stencil.predecessors(1, 0) == Points{0, 1});
  CHECK(stencil.predecessors(1, 4) == Points{3, 4, 5});
  CHECK(stencil.predecessors(3, 7) == Points{6, 7});
}

TEST_CASE("dom's width grows by one a step, then shrinks, and it waits for itself and the left") {
  const Pattern dom = pattern("dom", 3, 6);
  std::vector<Points> steps;
  for (std::uint32_t step = 0; step < 6; ++step) steps.push_back(between(dom.first(step), dom.end(step) - 1));
  CHECK(steps == std::vector<Points>{{0}, {0, 1}, {0, 1, 2}, {0, 1, 2}, {1, 2}, {2}});
  CHECK(dom.predecessors(1, 0) == Points{0});
  CHECK(dom.predecessors(1, 1) == Points{0});
  CHECK(dom.predecessors(3, 2) == Points{1, 2});
  CHECK(dom.predecessors(5, 2) == Points{1, 2});
}

TEST_CASE("a tree doubles, then keeps its width") {
  const Pattern tree = pattern("tree", 6, 5);
  CHECK(tree.end(0) == 1);
  CHECK(tree.end(1) == 2);
  CHECK(tree.end(2) == 4);
  CHECK(tree.end(3) == 6);
  CHECK(tree.end(4) == 6);
  CHECK(tree.predecessors(2, 3) == Points{1});
  CHECK(tree.predecessors(4, 5) == Points{2});
  CHECK(tree.successors(1, 1) == Points{2, 3});
  CHECK(tree.successors(2, 3).empty());  // Its children would be 6 and 7.
}

TEST_CASE("an fft reaches twice as far each step, then begins again") {
  const Pattern fft = pattern("fft", 8, 6);
  CHECK(fft.predecessors(1, 3) == Points{2, 3, 4});
  CHECK(fft.predecessors(2, 3) == Points{1, 3, 5});
  CHECK(fft.predecessors(3, 3) == Points{3, 7});
  CHECK(fft.predecessors(4, 3) == Points{2, 3, 4});
}

TEST_CASE("all_to_all waits for all") {
  CHECK(pattern("all_to_all", 8, 3).predecessors(1, 5) == between(0, 7));
}

TEST_CASE("nearest waits for radix points around, one more on the left when they are even") {
  CHECK(pattern("nearest", 16, 3, 5).predecessors(1, 8) == between(6, 10));
  CHECK(pattern("nearest", 16, 3, 4).predecessors(1, 8) == between(6, 9));
  CHECK(pattern("nearest", 16, 3, 5).predecessors(1, 0) == between(0, 2));
  CHECK(pattern("nearest", 16, 3, 1).predecessors(1, 8) == Points{8});
}

TEST_CASE("spread waits for radix points at equal distances, moved by the step but for the point itself") {
  const Pattern spread = pattern("spread", 16, 6, 4);
  CHECK(spread.predecessors(3, 2) == Points{2, 6, 10, 14});
  CHECK(spread.predecessors(1, 2) == Points{2, 7, 11, 15});
  CHECK(spread.predecessors(2, 2) == Points{0, 2, 8, 12});
  CHECK(spread.predecessors(4, 2) == spread.predecessors(1, 2));
}

TEST_CASE("random_nearest waits for the point itself and about a quarter of those around it") {
  const Pattern random = pattern("random_nearest", 64, 8, 9);
  const Pattern nearest = pattern("nearest", 64, 8, 9);
  std::size_t drawn = 0, possible = 0;
  for (std::uint32_t step = 1; step < 4; ++step) {
    for (std::uint32_t point = 0; point < 64; ++point) {
      const Points some = random.predecessors(step, point), all = nearest.predecessors(step, point);
      CHECK(std::count(some.begin(), some.end(), point) == 1);
      CHECK(std::includes(all.begin(), all.end(), some.begin(), some.end()));
      CHECK(random.predecessors(step + 3, point) == some);
      drawn += some.size() - 1;
      possible += all.size() - 1;
    }
  }
  const double share = static_cast<double>(drawn) / static_cast<double>(possible);
  CHECK(share > 0.2);
  CHECK(share < 0.3);
  CHECK(random.predecessors(1, 32) == random.predecessors(1, 32));
  bool differs = false;
  for (std::uint32_t point = 0; point < 64; ++point) {
    differs = differs || random.predecessors(1, point) != random.predecessors(2, point);
  }
  CHECK(differs);
}

TEST_CASE("who waits for whom is the same from both ends, and in the table") {
  const std::string name(GENERATE(from_range(Pattern::names.begin(), Pattern::names.end())));
  const auto width = GENERATE(1u, 2u, 7u, 16u);
  const auto steps = GENERATE(1u, 5u, 20u);
  CAPTURE(name, width, steps);
  const Pattern graph = pattern(name, width, steps);
  const PatternTable table(graph);
  REQUIRE(table.steps() == steps);
  std::uint32_t task = 0, edges_back = 0, edges_forth = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    REQUIRE(table.first_of(step) == task);
    REQUIRE(graph.end(step) <= width);
    for (std::uint32_t point = graph.first(step); point < graph.end(step); ++point, ++task) {
      CHECK(table.place(task) == PatternTable::Place{step, point});
      Points in_table;
      for (const std::uint32_t before : table.predecessors(task)) {
        CHECK(table.place(before).step + 1 == step);
        in_table.push_back(table.place(before).point);
      }
      const Points before = graph.predecessors(step, point);
      CHECK(in_table == before);
      edges_back += static_cast<std::uint32_t>(before.size());
      const Points after = graph.successors(step, point);
      edges_forth += static_cast<std::uint32_t>(after.size());
      for (const std::uint32_t one : after) {
        const Points theirs = graph.predecessors(step + 1, one);
        CHECK(std::binary_search(theirs.begin(), theirs.end(), point));
      }
    }
  }
  CHECK(task == table.size());
  CHECK(edges_back == edges_forth);
}
