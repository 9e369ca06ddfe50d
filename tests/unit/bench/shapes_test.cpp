// The graphs of empty tasks: their edges, and that a checked run notices a missing one.

#include "tools/bench/shapes.hpp"

#include <catch2/catch.hpp>
#include <string>

using dag::bench::Shape;

namespace {

std::vector<std::uint32_t> before(std::string_view name, std::uint32_t size, std::uint32_t task) {
  const auto found = Shape::by_name(name, size).value().predecessors(task);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("shapes are what they are called") {
  using Tasks = std::vector<std::uint32_t>;
  CHECK(before("chain", 10, 0) == Tasks{});
  CHECK(before("chain", 10, 7) == Tasks{6});
  CHECK(before("tree", 10, 7) == Tasks{3});
  CHECK(before("tree", 10, 8) == Tasks{3});
  CHECK(before("stencil", 200, 63) == Tasks{});
  CHECK(before("stencil", 200, 64) == Tasks{0, 1});
  CHECK(before("stencil", 200, 130) == Tasks{65, 66, 67});
  CHECK(before("stencil", 200, 127) == Tasks{62, 63});
  CHECK(before("wavefront", 16, 4) == Tasks{0});
  CHECK(before("wavefront", 16, 3) == Tasks{2});
  CHECK(before("wavefront", 16, 5) == Tasks{1, 4});
  CHECK(before("random", 10, 1) == Tasks{0});
  CHECK_FALSE(Shape::by_name("circle", 10));
}

TEST_CASE("tasks wait for lower numbers only, and for none twice") {
  const std::string name(GENERATE(from_range(Shape::names.begin(), Shape::names.end())));
  CAPTURE(name);
  const Shape shape = Shape::by_name(name, 1000).value();
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    auto found = before(name, 1000, task);
    std::sort(found.begin(), found.end());
    CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
    CHECK((found.empty() || found.back() < task));
  }
}

TEST_CASE("every edge counts in what a checked run comes to") {
  const std::string name(GENERATE(from_range(Shape::names.begin(), Shape::names.end())));
  CAPTURE(name);
  const Shape shape = Shape::by_name(name, 150).value();
  std::vector<std::uint64_t> values(shape.size());
  for (std::uint32_t late = 0; late < shape.size(); ++late) {
    // `late` runs before what it waits for has left anything.
    if (shape.predecessors(late).count == 0) continue;
    for (std::uint32_t task = 0; task < shape.size(); ++task) {
      values[task] = task == late ? dag::bench::checked_value(task, 0) : value_from(shape, task, values);
    }
    CHECK(digest(shape, values) != expected_digest(shape));
  }
}
