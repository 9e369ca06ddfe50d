#include "libdag/drawing/layout.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace dag::test;
using detail::Builder;

TEST_CASE("boxes do not overlap, and edges lead to the right", "[layout]") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Drawing drawing = draw(random_graph(random, {.actors_max = 2}).fragment);
    std::vector<Box> boxes(drawing.nodes.size());
    for (Box& box : boxes) {
      box.width = 10 + static_cast<int>(random.below(100));
      box.height = 10 + static_cast<int>(random.below(50));
    }
    place(drawing, boxes);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      REQUIRE(boxes[i].x > 0);
      REQUIRE(boxes[i].y > 0);
      for (std::size_t k = 0; k < i; ++k) {
        const bool apart =
            boxes[i].x + boxes[i].width <= boxes[k].x || boxes[k].x + boxes[k].width <= boxes[i].x ||
            boxes[i].y + boxes[i].height <= boxes[k].y || boxes[k].y + boxes[k].height <= boxes[i].y;
        REQUIRE(apart);
      }
    }
    for (const DrawnEdge& edge : drawing.edges) {
      REQUIRE(boxes[edge.from].x + boxes[edge.from].width < boxes[edge.to].x);
    }
  }
}

TEST_CASE("parallel chains lie in rows, however they were added", "[layout]") {
  Builder builder;
  std::vector<std::uint32_t> firsts;
  for (int chain = 0; chain < 6; ++chain) firsts.push_back(add(builder, "first"));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (int chain = 5; chain >= 0; --chain) {
    const auto second = add(builder, "second");
    strong(builder, firsts[static_cast<std::size_t>(chain)], second);
    edges.emplace_back(firsts[static_cast<std::size_t>(chain)], second);
  }
  const Drawing drawing = draw(builder.sealed());
  std::vector<Box> boxes(12, Box{0, 0, 50, 20});
  place(drawing, boxes);
  for (const auto& [from, to] : edges) CHECK(boxes[from].y == boxes[to].y);
}

TEST_CASE("nothing can be drawn, too", "[layout]") {
  CHECK(svg(draw(Builder().sealed())).find("</svg>") != std::string::npos);
}

TEST_CASE("svg escapes names and tells kinds of edges apart", "[layout]") {
  Builder builder;
  const auto a = add(builder, "a<b>&\"c\"");
  const auto x = add_actor(builder, "x");
  const auto call = add_call(builder, x, "call");
  builder.add_edge(a, call, detail::EdgeKind::weak);
  const auto last = add(builder, "last");
  builder.add_edge(a, last, detail::EdgeKind::conditional, some_code());
  const std::string text = svg(draw(builder.sealed(), {.title = "<title>"}));
  CHECK(text.find("<title>&lt;title&gt;</title>") != std::string::npos);
  CHECK(text.find(">a&lt;b&gt;&amp;&quot;c&quot;#0</text>") != std::string::npos);
  CHECK(text.find(">of x</text>") != std::string::npos);
  CHECK(text.find(" weak\"") != std::string::npos);
  CHECK(text.find(" conditional\"") != std::string::npos);
}
