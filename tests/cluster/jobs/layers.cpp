// Many tasks that take a while each: `layers TASKS MICROSECONDS` runs layers of a thousand, in each a task of
// three names in turn that needs the one above it, and that one's neighbour.
#include <chrono>
#include <dag/dag.hpp>
#include <iostream>

namespace {

constexpr int width = 1000;

/// Works for so long, as a kernel does.
int busy(int microseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < until) {
  }
  return microseconds;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 3) return 2;
  const int tasks = std::stoi(argv[1]), microseconds = std::stoi(argv[2]);
  dag::Graph graph("layers");
  std::vector<dag::Output<int>> above, layer;
  for (int i = 0; i < tasks; ++i) {
    const char* const names[] = {"load", "transform", "store"};
    const auto place = static_cast<std::size_t>(i % width);
    if (place == 0) above = std::exchange(layer, {});
    if (above.empty()) {
      layer.push_back(graph.task(names[0], busy, microseconds));
    } else {
      layer.push_back(graph.task(
          names[1 + i / width % 2], [](int one, int) { return busy(one); }, above[place],
          above[(place + 1) % above.size()]));
    }
  }
  dag::Job job = session.submit(graph);
  std::cout << job.get(layer.back()) << std::endl;
  return job.wait() ? 0 : 1;
}
