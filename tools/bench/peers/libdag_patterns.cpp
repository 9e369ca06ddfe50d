// Task Bench's graphs in libdag: what a task leaves is its output, and reaches its successors as their
// argument, in whatever process they run.

#include <optional>

#include "tools/bench/peers/libdag.hpp"
#include "tools/bench/peers/patterned_task.hpp"

namespace dag::bench {
namespace {

// Made before the Session, so that every process of a run has it.
std::optional<PatternTable> table;

Left kernel(std::uint32_t task, std::uint64_t iterations, std::vector<Left> inputs) {
  return patterned_task(*table, task, iterations, [&](std::size_t k) { return inputs.at(k); });
}

Figures run(Session& session, std::uint64_t iterations) {
  Figures figures;
  Stopwatch whole;
  Stopwatch part;
  Graph graph("patterns");
  std::vector<Output<Left>> tasks, inputs;
  tasks.reserve(table->size());
  for (std::uint32_t task = 0; task < table->size(); ++task) {
    inputs.clear();
    for (const std::uint32_t before : table->predecessors(task)) inputs.push_back(tasks[before]);
    tasks.push_back(graph.task("task", kernel, task, iterations, inputs));
  }
  figures.numbers["build"] = part.lap();
  const Job job = session.submit(graph);
  figures.numbers["submit"] = part.lap();
  job.wait();
  figures.numbers["run"] = part.lap();
  figures.numbers["total"] = whole.seconds();
  expect_all_finished(job, table->size());
  return figures;
}

}  // namespace

Figures libdag_patterns(const Request& request) {
  table.emplace(table_of(request));
  const auto session = open_session(request);
  return sweep(request, [&](std::uint64_t iterations) { return run(*session, iterations); });
}

}  // namespace dag::bench
