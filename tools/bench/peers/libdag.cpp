// libdag itself, through its public interface, as one peer among others.

#include "tools/bench/peers/libdag.hpp"
#include "tools/bench/peers/rounds.hpp"

#include <unistd.h>

#include <set>
#include <vector>

namespace dag::bench {

namespace {

/// How many processes the tasks of a small graph ran in.
std::size_t processes_that_run(Session& session) {
  Graph graph("who is there");
  std::vector<Output<std::int64_t>> asked;
  for (int task = 0; task < 64; ++task) {
    asked.push_back(graph.task("where", [] { return std::int64_t{getpid()}; }));
  }
  const Job job = session.submit(graph);
  std::set<std::int64_t> processes;
  for (const auto& one : asked) processes.insert(job.get(one));
  return processes.size();
}

}  // namespace

std::unique_ptr<Session> open_session(const Request& request) {
  std::vector<std::string> said = {request.program, "--dag-lanes", std::to_string(request.threads())};
  if (request.number("isolate", 0) != 0) said.push_back("--dag-isolate");
  said.insert(said.end(), request.runtime_flags.begin(), request.runtime_flags.end());
  std::vector<char*> words;
  for (std::string& word : said) words.push_back(word.data());
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  auto session = std::make_unique<Session>(count, words.data());
  // The processes of a run may be a moment late; a job that starts before has fewer.
  const Stopwatch waiting;
  while (processes_that_run(*session) < request.number("processes", 1)) {
    if (waiting.seconds() > 20) throw std::runtime_error("the other process does not take part");
  }
  return session;
}

void expect_all_finished(const Job& job, std::uint64_t tasks) {
  if (!job.wait()) throw std::runtime_error("the job failed");
  for (const auto& [outcome, count] : job.counts()) {
    if (outcome == Outcome::finished && count == tasks) return;
  }
  throw std::runtime_error("not every task has finished");
}

void add_empty_tasks(Graph& graph, const Shape& shape) {
  std::vector<Output<void>> tasks;
  tasks.reserve(shape.size());
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    const Output<void>& added = tasks.emplace_back(graph.task("empty", [] {}).effects(pure));
    for (const std::uint32_t before : shape.predecessors(task)) added.after(tasks[before]);
  }
}

Figures submit_and_run(Session& session, const Graph& graph) {
  Figures figures;
  Stopwatch part;
  const Job job = session.submit(graph);
  figures.numbers["submit"] = part.lap();
  const bool all_finished = job.wait();
  figures.numbers["run"] = part.lap();
  if (!all_finished) throw std::runtime_error("the job failed");
  figures.numbers["total"] = figures.numbers["submit"] + figures.numbers["run"];
  expect_all_finished(job, graph.size());
  return figures;
}

Figures overhead_round(Session& session, const Shape& shape) {
  Stopwatch part;
  Graph graph("overhead");
  add_empty_tasks(graph, shape);
  const double build = part.lap();
  Figures figures = submit_and_run(session, graph);
  figures.numbers["build"] = build;
  figures.numbers["total"] += build;
  return figures;
}

namespace {

Figures overhead(const Request& request) {
  const auto session = open_session(request);
  if (request.number("again", 0) != 0) {
    Graph graph("overhead");
    add_empty_tasks(graph, request.shape());
    return over_rounds(request, [&](const Shape&) { return submit_and_run(*session, graph); });
  }
  return over_rounds(request, [&](const Shape& shape) { return overhead_round(*session, shape); });
}

Figures check(const Request& request) {
  const auto session = open_session(request);
  const Shape shape = request.shape();
  Graph graph("check");
  std::vector<Output<std::uint64_t>> left;
  for (std::uint32_t task = 0; task < shape.size(); ++task) {
    std::vector<Output<std::uint64_t>> inputs;
    for (const std::uint32_t before : shape.predecessors(task)) inputs.push_back(left[before]);
    left.push_back(graph.task(
        "check",
        [](std::uint32_t which, std::vector<std::uint64_t> values) {
          std::uint64_t sum = 0;
          for (const std::uint64_t value : values) sum += value;
          return checked_value(which, sum);
        },
        task, inputs));
  }
  std::vector<Output<std::uint64_t>> sinks;
  for (const std::uint32_t sink : shape.sinks()) sinks.push_back(left[sink]);
  const auto sum = graph.task(
      "sum",
      [](std::vector<std::uint64_t> values) {
        std::uint64_t total = 0;
        for (const std::uint64_t value : values) total += value;
        return total;
      },
      sinks);
  return Figures::of_digest(session->submit(graph).get(sum));
}

}  // namespace

Figures measure(const Request& request) {
  if (request.workload == "overhead") return overhead(request);
  if (request.workload == "counted") return libdag_counted(request);
  if (request.workload == "check") return check(request);
  if (request.workload == "patterns") return libdag_patterns(request);
  if (request.workload == "memory") return libdag_memory(request);
  if (request.workload == "latency") return libdag_latency(request);
  if (request.workload == "submit") return libdag_submit(request);
  if (request.workload == "submits") return libdag_submits(request);
  if (request.workload == "settle") return libdag_settle(request);
  if (request.workload == "steal") return libdag_steal(request);
  if (request.workload == "blob") return libdag_blob(request);
  if (request.workload == "checkpoints") return libdag_checkpoints(request);
  throw UnknownWorkload(request);
}

}  // namespace dag::bench
