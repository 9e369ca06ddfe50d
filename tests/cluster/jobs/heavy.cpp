// A job for the cluster tests: a large value, and a task that reads it. The reader's other inputs are made by
// tasks that were added together, so that it lies in their shard, and the large value's maker in another.
//
//   heavy [MIB]   says `made at N, read at N`, processes, and then `result N`: how much was read

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

namespace {

std::string process_of(const dag::Context& context) {
  return std::string(context.device().substr(0, context.device().find('/')));
}

std::uint64_t light(std::uint64_t value) { return value; }

/// Begins with where it was made.
std::string make(dag::Context& context, std::uint64_t mebibytes) {
  std::string made(mebibytes << 20, 'x');
  return made.replace(0, 16, process_of(context) + '\n');
}

std::string weigh(dag::Context& context, const std::string& heavy, std::uint64_t a, std::uint64_t b,
                  std::uint64_t c) {
  const auto count = std::count(heavy.begin(), heavy.end(), 'x');
  return "made at " + heavy.substr(0, heavy.find('\n')) + ", read at " + process_of(context) + "\nresult " +
         std::to_string(static_cast<std::uint64_t>(count) * (a + b + c));
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::uint64_t mebibytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 64;
  dag::Graph graph("heavy");
  const auto one = graph.task("light", light, std::uint64_t{1});
  const auto two = graph.task("light", light, std::uint64_t{2});
  const auto three = graph.task("light", light, std::uint64_t{3});
  const auto heavy = graph.task("make", make, mebibytes);
  for (std::uint64_t i = 0; i < 2; ++i) graph.task("light", light, i);
  const auto end = graph.task("weigh", weigh, heavy, one, two, three);
  std::cout << session.submit(graph).get(end) << std::endl;
}
