// oneTBB's flow graph: a continue_node per task, as its documentation builds dependence graphs.

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include <deque>
#include <vector>

#include "tools/bench/peers/resident.hpp"
#include "tools/bench/peers/rounds.hpp"
#include "tools/bench/peers/tbb.hpp"

namespace dag::bench {
namespace {

namespace flow = oneapi::tbb::flow;
using Node = flow::continue_node<flow::continue_msg>;

/// `body(task)` makes the body of a node.
template <class Body>
void build(const Shape& shape, flow::graph& graph, std::deque<Node>& nodes,
           std::vector<std::uint32_t>& sources, Body body) {
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    Node& node = nodes.emplace_back(graph, body(task));
    const Predecessors before = shape.predecessors(task);
    for (const std::uint32_t one : before) flow::make_edge(nodes[one], node);
    if (before.count == 0) sources.push_back(task);
  }
}

void run(flow::graph& graph, std::deque<Node>& nodes, const std::vector<std::uint32_t>& sources) {
  for (const std::uint32_t source : sources) nodes[source].try_put(flow::continue_msg());
  graph.wait_for_all();
}

Figures overhead(const Request& request) {
  return over_rounds(request, [](const Shape& shape) {
    Figures figures;
    Stopwatch whole;
    Stopwatch part;
    flow::graph graph;
    std::deque<Node> nodes;
    std::vector<std::uint32_t> sources;
    build(shape, graph, nodes, sources, [](std::uint32_t) { return [](const flow::continue_msg&) {}; });
    figures.numbers["build"] = part.lap();
    run(graph, nodes, sources);
    figures.numbers["run"] = part.lap();
    figures.numbers["total"] = whole.seconds();
    return figures;
  });
}

Figures check(const Request& request) {
  const Shape shape = request.shape();
  std::vector<std::uint64_t> values(shape.size());
  flow::graph graph;
  std::deque<Node> nodes;
  std::vector<std::uint32_t> sources;
  build(shape, graph, nodes, sources, [&](std::uint32_t task) {
    return [&, task](const flow::continue_msg&) { values[task] = value_from(shape, task, values); };
  });
  run(graph, nodes, sources);
  return Figures::of_digest(digest(shape, values));
}

Figures memory(const Request& request) {
  const Shape shape = request.shape();
  const std::int64_t before = resident_bytes();
  flow::graph graph;
  std::deque<Node> nodes;
  std::vector<std::uint32_t> sources;
  build(shape, graph, nodes, sources, [](std::uint32_t) { return [](const flow::continue_msg&) {}; });
  Figures figures;
  figures.numbers["bytes"] = static_cast<double>(resident_bytes() - before);
  return figures;
}

}  // namespace

Figures measure(const Request& request) {
  const oneapi::tbb::global_control threads(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(request.threads()));
  if (request.workload == "overhead") return overhead(request);
  if (request.workload == "check") return check(request);
  if (request.workload == "patterns") return tbb_patterns(request);
  if (request.workload == "memory") return memory(request);
  throw UnknownWorkload(request);
}

}  // namespace dag::bench
