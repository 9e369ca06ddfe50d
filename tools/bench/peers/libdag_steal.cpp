// An unbalanced tree of tasks that grows while it runs: all work is born where its root runs.

#include "tools/bench/peers/libdag.hpp"
#include "tools/bench/peers/patterned_task.hpp"

namespace dag::bench {
namespace {

/// A subtree of so many tasks, and how it divides.
struct Subtree {
  std::uint64_t seed = 0;
  std::uint32_t tasks = 1;
  std::uint64_t iterations = 0;
};

/// Computes, then hands all tasks of the subtree but itself to one or two children, by chance.
void node(Context& context, Subtree subtree) {
  compute(subtree.iterations);
  const std::uint32_t left = subtree.tasks - 1;
  if (left == 0) return;
  const auto first = static_cast<std::uint32_t>(mix(subtree.seed) % left) + 1;
  context.spawn("node", node, Subtree{mix(subtree.seed + 1), first, subtree.iterations}).effects(pure);
  if (first == left) return;
  context.spawn("node", node, Subtree{mix(subtree.seed + 2), left - first, subtree.iterations}).effects(pure);
}

double run(Session& session, const Subtree& root) {
  const Stopwatch whole;
  Graph graph("steal");
  graph.task("node", node, root).effects(pure);
  const Job job = session.submit(graph);
  job.wait();
  const double seconds = whole.seconds();
  expect_all_finished(job, root.tasks);
  return seconds;
}

}  // namespace

Figures libdag_steal(const Request& request) {
  const auto session = open_session(request);
  const Subtree root{7, static_cast<std::uint32_t>(request.number("tasks", 1000)),
                     request.number("iterations", 1)};
  run(*session,
      {7, root.tasks / 10 + 1, root.iterations});  // Warms up, and tells how long tasks of this name take.
  Figures figures;
  figures.numbers["total"] = run(*session, root);
  return figures;
}

}  // namespace dag::bench
