// Jobs that do not do what their users expect, each for another reason: `causes retry` has a task that fails
// ten times and one behind it, `causes gpu` wants what nobody has, `causes straggler` has one of 31 tasks
// that takes far longer than the others.
#include <chrono>
#include <dag/dag.hpp>
#include <string_view>

using namespace std::chrono_literals;

namespace {

int busy_for(int milliseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < until) {
  }
  return milliseconds;
}

dag::Graph retried() {
  dag::Graph graph("retry");
  const auto upload =
      graph
          .task("upload",
                []() -> int {
                  throw dag::Failure({dag::ErrorCode::task_failed, "403 from the bucket", "renew the token"});
                })
          .retry({.attempts = 10, .backoff = 1ms});
  graph.task(
      "publish", [](int uploaded) { return uploaded; }, upload);
  return graph;
}

dag::Graph of_gpu() {
  dag::Graph graph("gpu");
  graph.task("train", [] { return 1; }).needs({.gpus = 1});
  return graph;
}

dag::Graph straggling() {
  dag::Graph graph("straggler");
  std::vector<dag::Output<int>> parts;
  for (int part = 0; part < 31; ++part)
    parts.push_back(graph.task("preprocess", busy_for, part == 20 ? 1500 : 5));
  graph.task(
      "merge", [](std::vector<int> all) { return all.size(); }, parts);
  return graph;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 2) return 2;
  const std::string_view cause = argv[1];
  const dag::Graph graph = cause == "retry" ? retried() : cause == "gpu" ? of_gpu() : straggling();
  return session.submit(graph).wait() ? 0 : 1;
}
