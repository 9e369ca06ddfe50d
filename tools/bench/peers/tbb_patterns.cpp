// Task Bench's graphs in oneTBB: a continue_node per task; what they leave lies in memory that all see.

#include <oneapi/tbb/flow_graph.h>

#include <deque>

#include "tools/bench/peers/patterned_task.hpp"
#include "tools/bench/peers/tbb.hpp"

namespace dag::bench {

namespace flow = oneapi::tbb::flow;

Figures tbb_patterns(const Request& request) {
  const PatternTable table = table_of(request);
  std::vector<Left> left(table.size());
  return sweep(request, [&](std::uint64_t iterations) {
    std::fill(left.begin(), left.end(), Left{});
    Figures figures;
    Stopwatch whole;
    Stopwatch part;
    flow::graph graph;
    std::deque<flow::continue_node<flow::continue_msg>> nodes;
    std::vector<std::uint32_t> sources;
    for (std::uint32_t task = 0; task < table.size(); ++task) {
      const auto before = table.predecessors(task);
      auto& node = nodes.emplace_back(graph, [&, task, iterations](const flow::continue_msg&) {
        left[task] = patterned_task(table, task, iterations,
                                    [&](std::size_t k) { return left[table.predecessors(task)[k]]; });
      });
      for (const std::uint32_t one : before) flow::make_edge(nodes[one], node);
      if (before.empty()) sources.push_back(task);
    }
    part.lap();
    for (const std::uint32_t source : sources) nodes[source].try_put(flow::continue_msg());
    graph.wait_for_all();
    figures.numbers["run"] = part.lap();
    figures.numbers["total"] = whole.seconds();
    return figures;
  });
}

}  // namespace dag::bench
