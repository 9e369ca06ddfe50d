// ended FILE [segv|abort] [TRIES]: a task that writes the number of its process into FILE, and says at its
// end which attempt it was. The first one waits to be killed, or ends its process itself.

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <fstream>
#include <iostream>
#include <string>

namespace {

int ends(dag::Context& context, std::string file, std::string how) {
  std::ifstream before(file);
  const bool is_first = !before.good();
  std::ofstream(file, std::ios::app) << getpid() << std::endl;
  if (!is_first) return static_cast<int>(context.attempt());
  if (how == "segv") raise(SIGSEGV);
  if (how == "abort") std::abort();
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string how = argc > 2 ? argv[2] : "";
  dag::Graph graph("ended");
  const auto task = graph.task("ends", ends, std::string(argv[1]), how)
                        .retry({.attempts = argc > 3 ? static_cast<std::uint32_t>(std::stoi(argv[3])) : 1});
  std::cout << "attempt " << session.submit(graph).get(task) << std::endl;
}
