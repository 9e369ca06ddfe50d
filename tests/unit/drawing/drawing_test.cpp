// Nodes, groups and marks of a drawing; and its formats.

#include "libdag/drawing/drawing.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "dag/graph.hpp"
#include "libdag/base/random.hpp"
#include "libdag/graph/text.hpp"
#include "tests/support/dag_file.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;
using detail::Builder;
using detail::EdgeKind;
using detail::Fragment;

namespace {

/// Everything once: read -> train (two calls) -> eval; a conditional, a weak and an order-only edge.
Fragment example() {
  Builder builder;
  const auto read = add(builder, "read", 2s);
  const auto model = add_actor(builder, "model");
  const auto step = add(builder, "step", 3s);
  builder.add_input(read);
  builder.set_call(model, detail::CallKind::call);
  const auto eval = add(builder, "eval", 1500ms);
  builder.add_input(step);
  const auto publish = add(builder, "publish", 0s);
  strong(builder, step, publish);
  builder.add_edge(eval, publish, EdgeKind::conditional, some_code());
  const auto report = add(builder, "report", 0s);
  builder.add_edge(publish, report, EdgeKind::weak);
  return builder.sealed();
}

}  // namespace

TEST_CASE("dot of one of everything", "[drawing]") {
  CHECK(dot(draw(example(), {.title = "ex\"ample"})) == R"(digraph "ex\"ample" {
  // solid: strong, grey without data; dashed: weak; dotted: conditional; plain lines: order of an actor's calls; red: the critical path
  rankdir=LR;
  node [shape=box, style=rounded];
  n0 [label="read#0\n2 s", color=red, penwidth=2];
  n3 [label="eval#3\n1.5 s", color=red, penwidth=2];
  n4 [label="publish#4\n0 s", color=red, penwidth=2];
  n5 [label="report#5\n0 s", color=red, penwidth=2];
  subgraph cluster_0 {
    label="model";
    n1 [label="model#1"];
    n2 [label="step#2\n3 s", color=red, penwidth=2];
  }
  n0 -> n2 [color=red, penwidth=2];
  n1 -> n2 [arrowhead=none, color=grey60];
  n2 -> n3 [color=red, penwidth=2];
  n2 -> n4 [color=grey60];
  n3 -> n4 [style=dotted, arrowhead=diamond, color=red, penwidth=2];
  n4 -> n5 [style=dashed, color=red, penwidth=2];
}
)");
}

TEST_CASE("mermaid of one of everything", "[drawing]") {
  CHECK(mermaid(draw(example(), {.title = "two\nlines"})) == R"(flowchart LR
  %% two lines
  n0("read#35;0<br/>2 s"):::marked
  n3("eval#35;3<br/>1.5 s"):::marked
  n4("publish#35;4<br/>0 s"):::marked
  n5("report#35;5<br/>0 s"):::marked
  subgraph a0 ["model"]
    n1("model#35;1")
    n2("step#35;2<br/>3 s"):::marked
  end
  n0 ==> n2
  n1 --- n2
  n2 ==> n3
  n2 --> n4
  n3 -.-o n4
  n4 -.-> n5
  classDef marked stroke:#d00,stroke-width:3px
)");
}

TEST_CASE("json of one of everything", "[drawing]") {
  const auto parsed = nlohmann::json::parse(json(example(), "a \"name\"\\\n"));
  CHECK(parsed.at("name") == "a \"name\"\\\n");
  CHECK(parsed.at("tasks").size() == 6);
  CHECK(parsed.at("tasks").at(2).at("actor") == "model");
  CHECK(parsed.at("tasks").at(3).at("takes_ns") == 1'500'000'000);
  CHECK(parsed.at("edges").size() == 6);
  CHECK(parsed.at("edges").at(0) ==
        nlohmann::json{{"from", 0}, {"to", 2}, {"kind", "strong"}, {"data", true}});
  CHECK(parsed.at("edges").at(1) ==
        nlohmann::json{{"from", 1}, {"to", 2}, {"kind", "strong"}, {"data", false}});
  CHECK(parsed.at("critical_path") == std::vector<int>{0, 2, 3, 4, 5});
  CHECK(parsed.at("critical_path_ns") == 6'500'000'000);
}

TEST_CASE("a graph with a cycle is drawn, and the cycle marked", "[drawing]") {
  Builder builder;
  const auto a = add(builder, "a");
  const auto b = add(builder, "b");
  const auto c = add(builder, "c");
  strong(builder, a, b);
  strong(builder, b, c);
  strong(builder, c, b);
  strong(builder, c, c);
  const Drawing drawing = draw(builder.sealed());
  CHECK(drawing.has_cycle);
  CHECK_FALSE(drawing.nodes[a].marked);
  CHECK(drawing.edges.size() == 4);
  CHECK(dot(drawing).find("red: the cycle") != std::string::npos);
  CHECK_FALSE(nlohmann::json::parse(json(builder.sealed(), "g")).at("cycle").empty());
}

TEST_CASE("large graphs are drawn in groups", "[drawing]") {
  Builder builder;
  const auto source = add(builder, "source");
  for (int i = 0; i < 300; ++i) {
    const auto forward = add(builder, "forward");
    strong(builder, source, forward);
    add(builder, "backward");
    builder.add_input(forward);
  }
  const Fragment fragment = builder.sealed();
  CHECK(draw(fragment, {.nodes_max = 601}).nodes.size() == 601);
  const Drawing grouped = draw(fragment, {.nodes_max = 600});
  REQUIRE(grouped.nodes.size() == 3);
  CHECK(grouped.nodes[0].label == "source#0");
  CHECK(grouped.nodes[1].label == "forward \xC3\x97 300");
  CHECK(grouped.nodes[1].tasks == 300);
  CHECK(grouped.nodes[2].depth == 2);
  REQUIRE(grouped.edges.size() == 2);
  CHECK(grouped.edges[1].edges == 300);
  CHECK(grouped.edges[1].data);
  CHECK_FALSE(grouped.edges[0].data);
  CHECK(dot(grouped).find("n1 -> n2 [color=red, penwidth=2, label=\"300\"]") != std::string::npos);
  const Drawing tiny = draw(fragment, {.nodes_max = 2});
  CHECK(tiny.nodes.size() <= 2);
}

TEST_CASE("a drawing holds every task and every edge once, and few enough nodes", "[drawing]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Fragment fragment = random_graph(random, {.actors_max = 3}).fragment;
    const auto nodes_max = static_cast<std::uint32_t>(1 + random.below(60));
    const Drawing drawing = draw(fragment, {.nodes_max = nodes_max});
    REQUIRE(drawing.nodes.size() <= nodes_max);
    std::size_t tasks = 0;
    for (const DrawnNode& node : drawing.nodes) tasks += node.tasks;
    REQUIRE(tasks == fragment.size());
    std::size_t edges = 0;
    for (const DrawnEdge& edge : drawing.edges) edges += edge.edges;
    if (drawing.nodes.size() == tasks) REQUIRE(edges == fragment.edges.size());
    REQUIRE(nlohmann::json::accept(json(fragment, "g")));
  }
}

TEST_CASE("names may hold any bytes", "[drawing]") {
  Builder builder;
  add(builder, "quote\" back\\slash\nline\ttab <b>&`#\xFF\xC0\xAF \xC3\xA9");
  const Fragment fragment = builder.sealed();
  const Drawing drawing = draw(fragment);
  CHECK(dot(drawing).find(
            "label=\"quote\\\" back\\\\slash\\nline tab <b>&`#\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD "
            "\xC3\xA9#0\"") != std::string::npos);
  CHECK(mermaid(drawing).find("quote#quot; back\\slash<br/>line tab #lt;b#gt;#amp;#96;#35;") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(json(fragment, "g"))
            .at("tasks")
            .at(0)
            .at("name")
            .get<std::string>()
            .substr(0, 6) == "quote\"");
}

TEST_CASE("printable keeps valid UTF-8 and nothing else", "[drawing]") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(printable("\xF0\x9F\x98\x80 \xE2\x82\xAC") == "\xF0\x9F\x98\x80 \xE2\x82\xAC");
  CHECK(printable("\xED\xA0\x80") == bad + bad + bad);  // a surrogate
  CHECK(printable("\xE2\x82") == bad + bad);            // cut off
  CHECK(printable("\xF4\x90\x80\x80") == bad + bad + bad + bad);
  CHECK(printable(std::string("a\0b", 3)) == "a b");
}

TEST_CASE("dot of a dag::Graph", "[drawing]") {
  Graph graph("typed");
  const auto hi = graph.task("hi", [] { return std::string("hello"); });
  graph.task(
      "len", [](std::string t) { return t.size(); }, hi);
  const std::string text = dot(graph);
  CHECK(text.find("digraph \"typed\"") == 0);
  CHECK(text.find("n0 -> n1") != std::string::npos);
}

TEST_CASE("all graphs of the test data can be drawn", "[drawing]") {
  const auto files = dag_files();
  if (files.empty()) {
    WARN("skipped: no test data (DAG_TEST_DATA)");
    return;
  }
  for (const auto& path : files) {
    const DagFile file = read_dag_file(path);
    CAPTURE(file.name);
    const Drawing drawing = draw(file.fragment, {.title = file.name});
    CHECK(drawing.nodes.size() <= 400);
    CHECK_FALSE(dot(drawing).empty());
  }
}
