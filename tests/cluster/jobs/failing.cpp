// A job of which one task fails whatever is tried, one is late, and one needs the failed one.
#include <dag/dag.hpp>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  dag::Session session(argc, argv);
  dag::Graph graph("failing");
  auto broken =
      graph
          .task("broken",
                []() -> int {
                  throw dag::Failure({dag::ErrorCode::task_failed, "the disk said no", "buy another"});
                })
          .retry({.attempts = 2, .backoff = 1ms});
  graph.task(
      "needs it", [](int n) { return n; }, broken);
  graph.task("fine", [] { return 1; }).deadline(1ns);
  return session.submit(graph).wait() ? 0 : 1;
}
