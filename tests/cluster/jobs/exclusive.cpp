// exclusive FILE: a task that may run only once at a time. Each attempt looks whether a process is there
// that an earlier one has started, writes what it finds into FILE, and starts a child that leads a session of
// its own and ignores SIGTERM. The first two attempts then kill their process.

#include <signal.h>
#include <unistd.h>

#include <dag/dag.hpp>
#include <fstream>
#include <iostream>
#include <string>

namespace {

bool is_there(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && line[name_end + 2] != 'Z';
}

int attempt(dag::Context& context, std::string file) {
  std::ifstream before(file);
  std::string word;
  pid_t process = 0;
  std::string found;
  while (before >> word >> process) {
    if (word == "started" && is_there(process)) found += "overlaps " + std::to_string(process) + "\n";
  }
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
  }
  std::ofstream(file, std::ios::app) << found << "started " << child << std::endl;
  const int number = static_cast<int>(context.attempt());
  if (number < 3) kill(getpid(), SIGKILL);
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("exclusive");
  const auto task =
      graph.task("exclusive", attempt, std::string(argv[1])).effects(dag::exclusive).retry({.attempts = 5});
  std::cout << "attempt " << session.submit(graph).get(task) << std::endl;
}
