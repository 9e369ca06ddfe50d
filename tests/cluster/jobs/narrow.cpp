// A job for which there is too little memory at first: `narrow TASKS STEP` submits a chain of TASKS tasks
// with no memory beyond what the process has, and then the same graph with STEP MiB more each time, until it
// runs. After each refusal a small job must run. Says how often it was refused, and the result.
#include <sys/resource.h>
#include <unistd.h>

#include <dag/dag.hpp>
#include <fstream>
#include <iostream>

namespace {

void limit_to(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_AS, &limit);
}

rlim_t in_use() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc < 3) return 2;
  dag::Graph small("small"), graph("narrow");
  const auto seven = small.task("seven", [] { return 7; });
  auto last = graph.task("task", [] { return 1; });
  for (int i = 1; i < std::stoi(argv[1]); ++i) {
    last = graph.task(
        "task", [](int before) { return before + 1; }, last);
  }
  if (session.submit(small).get(seven) != 7) return 1;  // All threads have their memory.
  const rlim_t begun = in_use(), step = static_cast<rlim_t>(std::stoul(argv[2])) << 20;
  for (rlim_t refused = 0;; ++refused) {
    try {
      limit_to(begun + refused * step);
      const int result = session.submit(graph).get(last);
      std::cout << "refused " << refused << " times, then " << result << std::endl;
      return 0;
    } catch (const dag::Failure& failure) {
      limit_to(RLIM_INFINITY);
      if (failure.error().code != dag::ErrorCode::memory_exhausted) throw;
      if (session.submit(small).get(seven) != 7) return 1;
    }
  }
}
