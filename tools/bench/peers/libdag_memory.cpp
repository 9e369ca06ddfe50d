// The memory of waiting tasks: submits a graph whose first task does not end, drops the client's copy of the
// graph, and charges the growth of all processes of the run to the waiting tasks.

#include <atomic>
#include <thread>

#include "tools/bench/peers/libdag.hpp"
#include "tools/bench/peers/resident.hpp"

namespace dag::bench {
namespace {

/// Ends when its job is cancelled.
void gate(Context& context) {
  context.log("started");
  while (!context.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Job submit_behind_gate(Session& session, const Shape& shape) {
  Graph graph("memory");
  const Output<void> first = graph.task("gate", gate).effects(pure);
  std::vector<Output<void>> tasks;
  tasks.reserve(shape.size());
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    const Output<void>& added = tasks.emplace_back(graph.task("wait", [] {}).effects(pure));
    const Predecessors before = shape.predecessors(task);
    for (const std::uint32_t one : before) added.after(tasks[one]);
    if (before.count == 0) added.after(first);
  }
  return session.submit(graph);
}

}  // namespace

Figures libdag_memory(const Request& request) {
  const bool several = request.number("processes", 1) > 1;
  const auto session = open_session(request);
  const Shape shape = request.shape();
  std::atomic<int> started = 0;
  session->on_event([&](const JobEvent&) {
    ++started;
    started.notify_one();
  });
  const auto resident = [&] { return several ? resident_bytes_of_siblings() : resident_bytes(); };
  // A small one first: what the first job of a process allocates is not its tasks'.
  const Job warm_up = submit_behind_gate(*session, *Shape::by_name(request.text("shape"), 1000));
  started.wait(0);
  warm_up.cancel();
  warm_up.wait();
  const std::int64_t before = resident();
  const Job job = submit_behind_gate(*session, shape);
  started.wait(1);
  Figures figures;
  figures.numbers["bytes"] = static_cast<double>(resident() - before);
  job.cancel();
  job.wait();
  return figures;
}

}  // namespace dag::bench
