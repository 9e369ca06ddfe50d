// The floor: the least that any runtime must do. One thread, a counter of missing predecessors per task, a
// stack of ready ones; no types, no outputs, no failure, no observers.

#include <thread>
#include <vector>

#include "tools/bench/peers/floor.hpp"
#include "tools/bench/peers/patterned_task.hpp"
#include "tools/bench/peers/resident.hpp"
#include "tools/bench/peers/rounds.hpp"

namespace dag::bench {
namespace {

struct Row {
  std::uint32_t missing = 0;
  std::uint32_t first_successor = 0;  // in `successors`; they end where the next row's begin
};

struct Graph {
  std::vector<Row> rows;
  std::vector<std::uint32_t> successors;
};

Graph build(const Shape& shape) {
  Graph graph;
  graph.rows.resize(shape.size() + 1);
  std::vector<std::uint32_t> edges;  // pairs: before, after
  edges.reserve(std::size_t{shape.size()} * 6);
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    for (const std::uint32_t before : shape.predecessors(task)) {
      edges.push_back(before);
      edges.push_back(task);
      ++graph.rows[before + 1].first_successor;
      ++graph.rows[task].missing;
    }
  }
  for (std::size_t i = 1; i < graph.rows.size(); ++i) {
    graph.rows[i].first_successor += graph.rows[i - 1].first_successor;
  }
  graph.successors.resize(edges.size() / 2);
  std::vector<std::uint32_t> next(shape.size());
  for (std::uint32_t task = 0; task < shape.size(); ++task) next[task] = graph.rows[task].first_successor;
  for (std::size_t i = 0; i < edges.size(); i += 2) graph.successors[next[edges[i]]++] = edges[i + 1];
  return graph;
}

/// `kernel` by pointer: a runtime cannot inline what it is given either.
void run(Graph& graph, void (*kernel)(std::uint32_t task)) {
  std::vector<std::uint32_t> ready;
  const auto tasks = static_cast<std::uint32_t>(graph.rows.size() - 1);
  for (std::uint32_t task = tasks; task-- > 0;) {
    if (graph.rows[task].missing == 0) ready.push_back(task);
  }
  while (!ready.empty()) {
    const std::uint32_t task = ready.back();
    ready.pop_back();
    kernel(task);
    for (std::uint32_t i = graph.rows[task].first_successor; i < graph.rows[task + 1].first_successor; ++i) {
      const std::uint32_t after = graph.successors[i];
      if (--graph.rows[after].missing == 0) ready.push_back(after);
    }
  }
}

const Shape* checked_shape = nullptr;
std::vector<std::uint64_t> checked_values;

Figures overhead(const Request& request) {
  return over_rounds(request, [](const Shape& shape) {
    Figures figures;
    Stopwatch whole;
    Stopwatch part;
    Graph graph = build(shape);
    figures.numbers["build"] = part.lap();
    run(graph, [](std::uint32_t) {});
    figures.numbers["run"] = part.lap();
    figures.numbers["total"] = whole.seconds();
    return figures;
  });
}

Figures check(const Request& request) {
  const Shape shape = request.shape();
  checked_shape = &shape;
  checked_values.assign(shape.size(), 0);
  Graph graph = build(shape);
  run(graph,
      [](std::uint32_t task) { checked_values[task] = value_from(*checked_shape, task, checked_values); });
  return Figures::of_digest(digest(shape, checked_values));
}

Figures memory(const Request& request) {
  const Shape shape = request.shape();
  const std::int64_t before = resident_bytes();
  const Graph graph = build(shape);
  Figures figures;
  figures.numbers["bytes"] = static_cast<double>(resident_bytes() - before);
  return figures;
}

/// The computation of a pattern's tasks and nothing else: `--loops` threads with an equal share each.
Figures loops(const Request& request) {
  const std::uint64_t tasks = table_of(request).size(), threads = request.number("loops", 1);
  return sweep(request, [&](std::uint64_t iterations) {
    const Stopwatch whole;
    std::vector<std::thread> running;
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        for (std::uint64_t task = thread; task < tasks; task += threads) compute(iterations);
      });
    }
    for (std::thread& one : running) one.join();
    Figures figures;
    figures.numbers["total"] = whole.seconds();
    return figures;
  });
}

/// How fast one undisturbed thread computes: the best of many short runs.
Figures rate_of_one() {
  constexpr std::uint64_t iterations = 20'000;
  double best = 1;
  for (int run = 0; run < 200; ++run) {
    const Stopwatch one;
    compute(iterations);
    best = std::min(best, one.seconds());
  }
  Figures figures;
  figures.numbers["seconds_per_iteration"] = best / static_cast<double>(iterations);
  return figures;
}

}  // namespace

Figures measure(const Request& request) {
  if (request.workload == "overhead") return overhead(request);
  if (request.workload == "check") return check(request);
  if (request.workload == "memory") return memory(request);
  if (request.workload == "latency") return floor_latency(request);
  if (request.workload == "rate") return rate_of_one();
  if (request.workload == "patterns") return loops(request);
  if (request.workload == "blob") return floor_blob(request);
  throw UnknownWorkload(request);
}

}  // namespace dag::bench
