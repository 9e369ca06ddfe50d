// From a client process into a cluster: how long until the first task of a large graph runs.

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/libdag.hpp"

namespace dag::bench {

Figures libdag_submit(const Request& request) {
  std::string program = request.program, flag = "--address", address = request.text("address");
  std::vector<char*> words = {program.data(), flag.data(), address.data(), nullptr};
  int count = 3;
  Session session(count, words.data());
  const Shape shape = request.shape();
  Graph graph("submit");
  const auto first = graph.task("first", now_ns);
  std::vector<Output<void>> tasks;
  tasks.reserve(shape.size());
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    const Output<void>& added = tasks.emplace_back(graph.task("empty", [] {}).effects(pure));
    const Predecessors before = shape.predecessors(task);
    for (const std::uint32_t one : before) added.after(tasks[one]);
    if (before.count == 0) added.after(first);
  }
  const std::int64_t start_ns = now_ns();
  const Job job = session.submit(graph);
  Figures figures;
  figures.numbers["acknowledged"] = static_cast<double>(now_ns() - start_ns) * 1e-9;
  figures.numbers["first_run"] = static_cast<double>(job.get(first) - start_ns) * 1e-9;
  figures.numbers["tasks_per_second"] = shape.size() / figures.numbers["first_run"];
  job.cancel();
  job.wait();
  return figures;
}

}  // namespace dag::bench
