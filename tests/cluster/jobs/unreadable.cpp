// `unreadable WHERE`: a task with a longer name than frames may have, which this process, `submitted`, or a
// kernel, `spawned`, makes. Says how the job ended.
#include <dag/dag.hpp>
#include <iostream>
#include <string>

namespace {

std::string too_long() { return std::string(70'000, 'x'); }

int one() { return 1; }

dag::Output<int> spawns(dag::Context& context) { return context.spawn(too_long(), one); }

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 2) return 2;
  dag::Graph graph("unreadable");
  const auto last =
      std::string(argv[1]) == "spawned" ? graph.task("spawns", spawns) : graph.task(too_long(), one);
  try {
    const dag::Job job = session.submit(graph);
    std::cout << job.get(last) << "\n";
  } catch (const dag::Failure& failure) {
    std::cout << failure.error().message() << "\n";
  }
  return 0;
}
