// A task that crashes its process twice, and a job that does not mind.
//
// A kernel that crashes takes its worker process with it and nothing else: its node starts another one, what
// the dead one held is made again, and the task gets its next attempt. In a cluster kernels always run in
// worker processes; elsewhere the job asks for it.
#include <csignal>
#include <dag/dag.hpp>
#include <iostream>

namespace {

std::string fragile(dag::Context& c, int n) {
  if (c.attempt() <= 2) std::raise(SIGSEGV);
  return "task survived " + std::to_string(c.attempt() - 1) + " crashes, and says " + std::to_string(n * n);
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv, {.isolate = true});
  dag::Graph g("survive-a-crash");
  auto six = g.task("six", [] { return 6; });
  auto end = g.task("fragile", fragile, six).retry({.attempts = 3});
  std::cout << session.submit(g).get(end) << '\n';
}
