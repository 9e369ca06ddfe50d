// forks HOW : a kernel whose child leaves the kernel by an exception, by `return`, by exit() or by a fault.
// The task gives the number of its attempt.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("forks");
  const auto forks = graph.task(
      "forks",
      [](dag::Context& context, std::string how) {
        context.log("before");
        const pid_t child = fork();
        if (child == 0) {
          context.log("the child has a voice");
          if (how == "throws") throw std::runtime_error("in the child");
          if (how == "returns") return -1;
          if (how == "exits") exit(3);
          std::raise(SIGSEGV);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child) throw std::runtime_error("no child");
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) throw std::runtime_error("the child was content");
        context.log("after");
        // A fault that is noted falsely is believed when the process ends.
        if (how == "exits" && context.attempt() < 3) std::raise(SIGKILL);
        return static_cast<int>(context.attempt());
      },
      std::string(argv[1]));
  forks.retry({.attempts = 5});
  std::cout << "attempt " << session.submit(graph).get(forks) << std::endl;
}
