// A job that the test lets end: `gate FIFO` has a task that ends at once, a task that waits until the FIFO is
// opened for writing, and a task behind it.

#include <fcntl.h>
#include <unistd.h>

#include <dag/dag.hpp>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 2) return 2;
  dag::Graph graph("gate");
  const auto before = graph.task("before", [] { return 1; });
  const auto gate = graph.task(
      "gate",
      [](std::string fifo, int number) {
        const int file = open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) throw std::runtime_error("no gate");
        close(file);
        return number;
      },
      std::string(argv[1]), before);
  graph.task(
      "behind", [](int number) { return number; }, gate);
  return session.submit(graph).wait() ? 0 : 1;
}
