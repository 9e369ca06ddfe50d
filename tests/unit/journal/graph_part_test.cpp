// Graphs as records: any graph comes back as it was, in parts that are small, and bytes that are damaged harm
// nobody.
#include "libdag/journal/graph_part.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "libdag/base/random.hpp"

using namespace dag;

namespace {

struct Edge {
  std::uint32_t before = 0;
  std::uint8_t kind = 0;
  bool data = true;
  auto operator<=>(const Edge&) const = default;
};
struct Task {
  std::string name;
  std::multiset<Edge> edges;
  bool operator==(const Task&) const = default;
};
using Graph = std::vector<Task>;

std::vector<JournalEvent> written(const Graph& graph, TaskId first) {
  std::vector<JournalEvent> records;
  GraphPartWriter writer(first, [&](TaskId from, event::GraphPart part) {
    CHECK(part.packed.size() <= GraphPartWriter::packed_bytes_max + 32);
    records.push_back({{}, {}, {7}, from, {}, std::move(part)});
  });
  for (const Task& task : graph) {
    writer.task(task.name);
    for (const auto& [place, kind, data] : task.edges) writer.waits_for(place, kind, data);
  }
  writer.finish();
  return records;
}

Graph read(const std::vector<JournalEvent>& records, TaskId first) {
  Graph graph;
  std::uint32_t newest = 0;
  for (const JournalEvent& record : records) {
    CHECK(read_graph_part(record, {[&](TaskId task, const std::string& name) {
                                     CHECK(task.origin == first.origin);
                                     newest = task.index - first.index;
                                     if (graph.size() <= newest) graph.resize(newest + 1);
                                     graph[newest].name = name;
                                   },
                                   [&](TaskId before, std::uint8_t kind, bool data) {
                                     graph[newest].edges.insert({before.index - first.index, kind, data});
                                   }}));
  }
  return graph;
}

Graph random_graph(Random& random) {
  Graph graph(random.below(3000));
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    graph[i].name = random.below(3) == 0 ? "task " + std::to_string(i) : "step";
    const std::uint64_t edges = i == 0 ? 0 : random.below(random.below(200) == 0 ? 20'000 : 4);
    for (std::uint64_t edge = 0; edge < edges; ++edge)
      graph[i].edges.insert({static_cast<std::uint32_t>(random.below(i)),
                             static_cast<std::uint8_t>(random.below(3)), random.below(2) == 0});
  }
  return graph;
}

}  // namespace

TEST_CASE("a graph is read as it was written, whatever its size") {
  Random random(7);
  for (int round = 0; round < 20; ++round) {
    const Graph graph = random_graph(random);
    const TaskId first{static_cast<std::uint32_t>(round % 2 * 5),
                       static_cast<std::uint32_t>(random.below(1000))};
    CHECK(read(written(graph, first), first) == graph);
  }
  CHECK(written({}, {}).empty());
  // A task behind a later one is in no graph of ours, and comes back all the same.
  const Graph odd{{"a", {{1, 0, false}}}, {"b", {}}};
  CHECK(read(written(odd, {}), {}) == odd);
}

TEST_CASE("an edge takes a few bytes") {
  Graph graph(100'000);
  for (std::uint32_t i = 3; i < graph.size(); ++i) {
    graph[i].name = "stencil";
    graph[i].edges = {{i - 1, 0}, {i - 2, 0}, {i - 3, 0}};
  }
  std::size_t bytes = 0;
  for (const JournalEvent& record : written(graph, {}))
    bytes += std::get<event::GraphPart>(record.what).packed.size();
  CHECK(bytes < 6 * graph.size());
}

TEST_CASE("damaged parts end early, and say so") {
  Random random(9);
  Graph graph(50);
  for (std::uint32_t i = 1; i < graph.size(); ++i)
    graph[i] = {"t" + std::to_string(i % 3), {{i / 2, 1, i % 2 == 0}}};
  graph[0].name = "t0";
  const JournalEvent good = written(graph, {}).front();
  std::size_t tasks = 0, edges = 0;
  const GraphPartVisitor counts{[&](TaskId, const std::string&) { ++tasks; },
                                [&](TaskId, std::uint8_t, bool) { ++edges; }};
  for (int round = 0; round < 2000; ++round) {
    JournalEvent bad = good;
    auto& packed = std::get<event::GraphPart>(bad.what).packed;
    packed[random.below(packed.size())] = static_cast<std::uint8_t>(random.next());
    if (random.below(2) == 0) packed.resize(random.below(packed.size()));
    read_graph_part(bad, counts);
  }
  CHECK(tasks > 0);
  JournalEvent unnamed = good;
  std::get<event::GraphPart>(unnamed.what).names.clear();
  CHECK_FALSE(read_graph_part(unnamed, counts));
  JournalEvent endless = good;
  std::get<event::GraphPart>(endless.what).packed.assign(100, 0xFF);
  CHECK_FALSE(read_graph_part(endless, counts));
  JournalEvent kindless = good;  // An edge whose kind would have to follow.
  std::get<event::GraphPart>(kindless.what).packed = {0, 0, 0, 8};
  CHECK_FALSE(read_graph_part(kindless, counts));
  JournalEvent other{{}, {}, {7}, {}, {}, event::Started{}};
  CHECK(read_graph_part(other, counts));
}
