// A job whose process 1 does not come to its Session: `early kill` dies at once, `early exit` ends with
// status 9, `early wait` says its id and waits to be killed.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const char* rank = std::getenv("DAG_RANK");
  if (rank != nullptr && std::string(rank) == "1") {
    if (how == "kill") raise(SIGKILL);
    if (how == "exit") return 9;
    std::cout << "process 1 is " << getpid() << std::endl;
    for (;;) pause();
  }
  dag::Session session(argc, argv);
  dag::Graph graph("early");
  auto one = graph.task("one", [] { return 1; });
  return session.submit(graph).get(one) == 1 ? 0 : 1;
}
