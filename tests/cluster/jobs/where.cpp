// A job that says where its kernel ran: in a process that its launcher or its user started, or in a worker
// process; and its arguments as they were after its Session.
#include <unistd.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("where");
  auto parent = graph.task("parent", [] { return static_cast<long>(getppid()); });
  // The parent of a process of the run is the launcher, which is this one's parent, too.
  const bool ours = session.submit(graph).get(parent) == static_cast<long>(getppid());
  std::cout << (ours ? "in a process of the run" : "in a worker process");
  for (int i = 1; i < argc; ++i) std::cout << ", " << argv[i];
  std::cout << std::endl;
}
