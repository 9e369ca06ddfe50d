// A job that says where its kernel ran: in a process that its launcher or its user started, or in a worker
// process; its arguments as they were after its Session; and how nice the thread of a kernel is.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("where");
  auto parent = graph.task("parent", [] { return static_cast<long>(getppid()); });
  auto niceness =
      graph.task("niceness", [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); });
  dag::Job job = session.submit(graph);
  // The parent of a process of the run is the launcher, which is this one's parent, too.
  const bool ours = job.get(parent) == static_cast<long>(getppid());
  std::cout << (ours ? "in a process of the run" : "in a worker process");
  for (int i = 1; i < argc; ++i) std::cout << ", " << argv[i];
  std::cout << ", niceness " << job.get(niceness) << std::endl;
}
