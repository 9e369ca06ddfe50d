// The longest chain of a job's tasks, out of its records: against one that is found by trying all chains.
#include "libdag/story/job_graph.hpp"

#include <catch2/catch.hpp>
#include <functional>

#include "libdag/base/random.hpp"
#include "tests/support/graph_records.hpp"

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

using Edge = JobGraph::Edge;

void add_graph(JobGraph& to, const std::vector<std::vector<std::uint32_t>>& graph, TaskId first = {},
               std::optional<TaskId> parent = {}) {
  for (const JournalEvent& record : test::graph_records({7}, graph, first, parent)) to.add(record);
}

}  // namespace

TEST_CASE("edges are those of the graph, each once") {
  JobGraph graph;
  CHECK(graph.empty());
  add_graph(graph, {{}, {0}, {0, 1}});
  add_graph(graph, {{}, {0}, {0, 1}});  // Another leader says it again.
  CHECK(graph.edges() ==
        std::vector<Edge>{{{0, 0}, {0, 1}, 0, true}, {{0, 0}, {0, 2}, 0, true}, {{0, 1}, {0, 2}, 0, true}});
}

TEST_CASE("what was spawned waits for what spawned it, and a task that became another ends with it") {
  JobGraph graph;
  add_graph(graph, {{}, {0}});
  add_graph(graph, {{}, {0}}, {3, 10}, TaskId{0, 0});
  graph.add({{}, {}, {7}, {0, 0}, {}, event::Became{{3, 11}}});
  // A spawned task waits for its parent, and gets no output along that edge.
  CHECK(graph.edges() ==
        std::vector<Edge>{
            {{0, 0}, {3, 10}}, {{0, 0}, {3, 11}}, {{3, 10}, {3, 11}, 0, true}, {{3, 11}, {0, 1}, 0, true}});
  // Whatever records say, it ends.
  graph.add({{}, {}, {7}, {3, 11}, {}, event::Became{{0, 0}}});
  CHECK_FALSE(graph.edges().empty());
}

TEST_CASE("the critical path is the longest of all chains") {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const auto size = static_cast<std::uint32_t>(1 + random.below(12));
    std::vector<Edge> edges;
    std::map<TaskId, Duration> ran;
    for (std::uint32_t task = 0; task < size; ++task) {
      if (random.below(8) != 0) ran[{0, task}] = Duration(static_cast<Duration::rep>(random.below(1000)));
      for (std::uint32_t before = 0; before < task; ++before) {
        if (random.below(4) == 0) edges.push_back({{0, before}, {0, task}});
      }
    }
    const auto span_of = [&](TaskId task) { return ran.contains(task) ? ran.at(task) : Duration{0}; };
    const std::function<Duration(TaskId)> longest_to = [&](TaskId task) {
      Duration before{0};
      for (const Edge& edge : edges) {
        if (edge.to == task) before = std::max(before, longest_to(edge.from));
      }
      return before + span_of(task);
    };
    Duration longest{0};
    for (std::uint32_t task = 0; task < size; ++task) longest = std::max(longest, longest_to({0, task}));
    const CriticalPath path = critical_path(edges, ran);
    CHECK(path.length == longest);
    Duration sum{0};
    for (std::size_t i = 0; i < path.tasks.size(); ++i) {
      sum += span_of(path.tasks[i]);
      if (i > 0)
        CHECK(std::find(edges.begin(), edges.end(), Edge{path.tasks[i - 1], path.tasks[i]}) != edges.end());
    }
    CHECK(sum == path.length);
  }
}

TEST_CASE("a graph that goes in a circle, as no job's does, ends all the same") {
  const std::vector<Edge> circle{{{0, 0}, {0, 1}}, {{0, 1}, {0, 2}}, {{0, 2}, {0, 1}}};
  CHECK(critical_path(circle, {{{0, 0}, 3ms}, {{0, 1}, 5ms}}).length == 3ms);
  CHECK(critical_path({}, {}).tasks.empty());
}
