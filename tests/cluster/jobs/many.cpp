// Jobs that together take more memory than there is: `many TASKS JOBS MEBIBYTES` submits a chain of TASKS
// tasks JOBS times, as fast as it may, with so much memory beyond what it has at the start.
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

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 4) return 2;
  dag::Graph graph("many");
  auto last = graph.task("task", [] { return 1; });
  for (int i = 1; i < std::stoi(argv[1]); ++i) {
    last = graph.task(
        "task", [](int before) { return before + 1; }, last);
  }
  limit_to(static_cast<rlim_t>(std::stoul(argv[3])) << 20);
  std::deque<std::future<int>> results;
  for (int i = 0; i < std::stoi(argv[2]); ++i) {
    // The handle of a job goes when its result is here.
    results.push_back(std::async(
        std::launch::async, [last](dag::Job job) { return job.get(last); }, session.submit(graph)));
  }
  for (auto& result : results) std::cout << result.get() << std::endl;
}
