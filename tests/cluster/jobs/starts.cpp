// Tasks that last, and report their start to a file: `starts FILE FIFO TASKS` writes a line `NUMBER PID` into
// FILE for each start of a task, which then waits until the FIFO is opened for writing. Prints `sum N` at its
// end.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

int start(std::string name, std::string fifo, int number) {
  const std::string line = std::to_string(number) + " " + std::to_string(getpid()) + "\n";
  const int file = open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line.data(), line.size()) < 0) throw std::runtime_error("cannot say it");
  close(file);
  const int gate = open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
  if (gate < 0) throw std::runtime_error("no gate");
  close(gate);
  return number;
}

int sum(std::vector<int> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0); }

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 4) return 2;
  dag::Graph graph("starts");
  std::vector<dag::Output<int>> tasks;
  for (int number = 0; number < std::atoi(argv[3]); ++number)
    tasks.push_back(graph.task("start", start, std::string(argv[1]), std::string(argv[2]), number));
  const auto all = graph.task("sum", sum, tasks);
  std::cout << "sum " << session.submit(graph).get(all) << std::endl;
}
