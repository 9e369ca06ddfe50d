// A job in trouble: `troubled FIFO` has eight tasks `part`, of which the last one waits until the FIFO is
// opened for writing; a task `flaky` whose service is not there, and which is tried again in an hour; `sum`
// behind the parts, and `report` behind both.

#include <fcntl.h>
#include <unistd.h>

#include <dag/dag.hpp>
#include <stdexcept>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 2) return 2;
  dag::Graph graph("troubled");
  std::vector<dag::Output<int>> parts;
  for (int i = 0; i < 8; ++i) {
    parts.push_back(graph.task(
        "part",
        [](std::string fifo, int number) {
          if (number < 7) return number;
          const int file = open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
          if (file < 0) throw std::runtime_error("no gate");
          close(file);
          return number;
        },
        std::string(argv[1]), i));
  }
  const auto flaky =
      graph.task("flaky", []() -> int { throw std::runtime_error("the price service does not answer"); })
          .retry({.attempts = 10, .backoff = std::chrono::hours(1)});
  const auto sum = graph.task(
      "sum",
      [](std::vector<int> all) {
        int total = 0;
        for (const int one : all) total += one;
        return total;
      },
      parts);
  graph
      .task(
          "report", [](int total, int price) { return total * price; }, sum, flaky)
      .needs({.memory = std::uint64_t{1} << 20})
      .priority(dag::Priority::high);
  return session.submit(graph).wait() ? 0 : 1;
}
