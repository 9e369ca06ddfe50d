// Small jobs of one Session, one after the other: each says in which process its kernel ran, and how many
// jobs that process has served.
//
//   warm WORD...    a job each: plain; changed: MY_SETTING is another one from here on; child: its kernel
//   leaves
//                   a process behind; crash: its kernel ends its process, and is tried again
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

namespace {

std::string serve(dag::Context& context, std::string word) {
  static int served = 0;
  ++served;
  if (word == "crash" && context.attempt() == 1) std::raise(SIGSEGV);
  if (word == "child" && fork() == 0) {
    for (;;) pause();
  }
  const char* setting = std::getenv("MY_SETTING");
  return std::to_string(getpid()) + " " + std::to_string(served) + " " + (setting ? setting : "none");
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "changed") setenv("MY_SETTING", "another", 1);
    dag::Graph graph("warm");
    auto said = graph.task("serve", serve, word).retry({.attempts = 2});
    dag::Job job = session.submit(graph);
    std::cout << word << " " << job.get(said) << std::endl;
  }
}
