// A talking job: `talking FIFO TASKS` has a task that prints and says something, a task that waits until the
// FIFO is opened for writing, and then TASKS tasks that say a line each; with a second FIFO behind these, the
// second half of them waits for that one, too.

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <dag/dag.hpp>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

int greet(dag::Context& context) {
  std::cout << "printed by greet\n" << std::flush;
  std::cerr << "and on stderr" << std::endl;
  context.log("said by greet");
  return 1;
}

int wait_for_gate(std::string fifo, int number) {
  const int file = open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("no gate");
  close(file);
  return number;
}

int say(dag::Context& context, int number, int) {
  context.log("line " + std::to_string(number));
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  while (std::chrono::steady_clock::now() < until) {
  }
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc < 3) return 2;
  const int tasks = std::stoi(argv[2]);
  dag::Graph graph("talking");
  const auto gate = graph.task("gate", wait_for_gate, std::string(argv[1]), graph.task("greet", greet));
  const auto second = argc == 3 ? gate : graph.task("gate", wait_for_gate, std::string(argv[3]), gate);
  for (int i = 0; i < tasks; ++i) graph.task("say", say, i, i < tasks / 2 ? gate : second);
  return session.submit(graph).wait() ? 0 : 1;
}
