// Jobs that together take more memory than there is: `many TASKS JOBS MEBIBYTES` submits a chain of TASKS
// tasks JOBS times, as fast as it may, with so much memory beyond what it has at the start; `many TASKS JOBS
// MEBIBYTES family` submits a family of them. A small job runs when one was refused.
#include <sys/resource.h>
#include <unistd.h>

#include <dag/dag.hpp>
#include <deque>
#include <fstream>
#include <future>
#include <iostream>

namespace {

void limit_to(rlim_t more_bytes) {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
}

int small_job(dag::Session& session) {
  dag::Graph graph("small");
  const auto task = graph.task("small", [] { return 7; });
  return session.submit(graph).get(task);
}

dag::Output<int> add_chain(dag::Graph& graph, int tasks) {
  auto last = graph.task("task", [] { return 1; });
  for (int i = 1; i < tasks; ++i) {
    last = graph.task(
        "task", [](int before) { return before + 1; }, last);
  }
  return last;
}

dag::Output<int> add_family(dag::Graph& graph, std::uint32_t tasks) {
  return graph.family("task", dag::Range{1, tasks}, [](dag::Point) { return 1; }, {}).at(0);
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc < 4) return 2;
  dag::Graph graph("many");
  const int tasks = std::stoi(argv[1]);
  const auto last =
      argc == 4 ? add_chain(graph, tasks) : add_family(graph, static_cast<std::uint32_t>(tasks));
  limit_to(static_cast<rlim_t>(std::stoul(argv[3])) << 20);
  std::deque<std::future<int>> results;
  for (int i = 0; i < std::stoi(argv[2]); ++i) {
    try {
      // The handle of a job goes when its result is here.
      results.push_back(std::async(
          std::launch::async, [last](dag::Job job) { return job.get(last); }, session.submit(graph)));
    } catch (const dag::Failure&) {
      std::cout << small_job(session) << std::endl;
      throw;
    }
  }
  for (auto& result : results) std::cout << result.get() << std::endl;
}
