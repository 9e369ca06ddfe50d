// A task that takes its process down twice, and a job that does not mind. Start a cluster first: `dag up`.
//
// A kernel that crashes takes its worker process with it and nothing else: the node starts another one, what
// the dead one held is made again, and the task gets its next attempt.
#include <csignal>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string_view>

namespace {

std::string fragile(dag::Context& c, int n) {
  c.log("attempt " + std::to_string(c.attempt()));
  if (c.attempt() <= 2) std::raise(SIGSEGV);
  return "task survived " + std::to_string(c.attempt() - 1) + " crashes, and says " + std::to_string(n * n);
}

}  // namespace

int main(int argc, char** argv) {
  bool clustered = std::getenv("DAG_ADDRESS") != nullptr || std::getenv("DAG_WORKER") != nullptr;
  for (int i = 1; i < argc; ++i) clustered = clustered || std::string_view(argv[i]).starts_with("--address");
  if (!clustered) {
    std::cerr << "survive_a_crash: in one process a crash would end the client too. Start a cluster with "
                 "`dag up`,\n"
                 "then: dag submit --watch survive_a_crash, or survive_a_crash --address HOST:PORT\n";
    return 2;
  }
  dag::Session session(argc, argv);
  session.on_event([](const dag::JobEvent& event) {
    if (event.kind == dag::JobEvent::Kind::log) std::cerr << event.device << ": " << event.text << '\n';
  });
  dag::Graph g("survive-a-crash");
  auto six = g.task("six", [] { return 6; });
  auto end = g.task("fragile", fragile, six).retry({.attempts = 3});
  std::cout << session.submit(g).get(end) << '\n';
}
