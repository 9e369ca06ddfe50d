// From a client process into a cluster: how long until the first task of a large graph runs.

#include <optional>

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/libdag.hpp"

namespace dag::bench {

namespace {

struct Submitted {
  Graph graph{"submit"};
  std::optional<Output<std::int64_t>> first;  ///< says when it began
};

/// Every task and every edge said one by one.
Submitted explicit_graph(const Shape& shape) {
  Submitted made;
  made.first = made.graph.task("first", now_ns);
  std::vector<Output<void>> tasks;
  tasks.reserve(shape.size());
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    const Output<void>& added = tasks.emplace_back(made.graph.task("empty", [] {}).effects(pure));
    const Predecessors before = shape.predecessors(task);
    for (const std::uint32_t one : before) added.after(tasks[one]);
    if (before.count == 0) added.after(*made.first);
  }
  return made;
}

/// The same stencil as a formula.
Submitted family(std::uint32_t tasks) {
  Submitted made;
  const auto cells = made.graph.family("cell", Range{tasks / Shape::stencil_width, Shape::stencil_width},
                                       [](Point) { return now_ns(); }, {{-1, -1}, {-1, 0}, {-1, 1}});
  made.first = cells.at(0, 0);
  return made;
}

Session session_at(const Request& request) {
  std::string program = request.program, flag = "--address", address = request.text("address");
  std::vector<char*> words = {program.data(), flag.data(), address.data(), nullptr};
  int count = 3;
  return Session(count, words.data());
}

}  // namespace

/// Small jobs, each when the one before has ended. Those before them are not measured, and their handles are
/// kept.
Figures libdag_submits(const Request& request) {
  Session session = session_at(request);
  const auto run_one = [&session] {
    Graph graph("small");
    const auto one = graph.task("one", [] { return 1; });
    Job job = session.submit(graph);
    job.get(one);
    return job;
  };
  std::vector<Job> kept;
  for (auto i = static_cast<int>(request.number("kept", 0)); i > 0; --i) kept.push_back(run_one());
  const auto jobs = static_cast<int>(request.number("jobs", 300));
  const std::int64_t start_ns = now_ns();
  for (int i = 0; i < jobs; ++i) run_one();
  Figures figures;
  figures.numbers["seconds"] = static_cast<double>(now_ns() - start_ns) * 1e-9;
  return figures;
}

Figures libdag_submit(const Request& request) {
  Session session = session_at(request);
  const Submitted made =
      request.number("family", 0) != 0 ? family(request.shape().size()) : explicit_graph(request.shape());
  const std::int64_t start_ns = now_ns();
  const Job job = session.submit(made.graph);
  Figures figures;
  figures.numbers["acknowledged"] = static_cast<double>(now_ns() - start_ns) * 1e-9;
  figures.numbers["first_run"] = static_cast<double>(job.get(*made.first) - start_ns) * 1e-9;
  figures.numbers["tasks_per_second"] = static_cast<double>(made.graph.size()) / figures.numbers["first_run"];
  job.cancel();
  job.wait();
  return figures;
}

}  // namespace dag::bench
