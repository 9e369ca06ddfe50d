// A promise of the README: the reason why a job is late, fails or does not start is found with one command.
// (The reason for a hang: explain_test.)

#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;
using cluster::said;

namespace {

Process watched(const Nodes& nodes, const std::string& cause) {
  std::vector<std::string> words = at(nodes, {bin("dag"), "submit", "--watch"});
  words.insert(words.end(), {bin("cluster_causes"), cause});
  return Process(words);
}

/// On a terminal of its own, with these variables set.
std::string drawn(const Nodes& nodes, const std::string& variables, const std::string& words) {
  Process terminal(
      {"script", "-qec",
       "env TERM=xterm " + variables + " " + bin("dag") + " " + words + " --address " + nodes.address(),
       "/dev/null"});
  CHECK(terminal.ends() == 0);
  return terminal.out();
}

}  // namespace

TEST_CASE("that a task failed in its tenth try, why, and what it took along, is told by one command") {
  Nodes nodes(2);
  nodes.gather();
  CHECK(watched(nodes, "retry").ends() == 1);
  CHECK_THAT(said(nodes, {"explain", "job1"}),
             Catch::StartsWith("job1 retry: failed after ") &&
                 Catch::Contains("upload (0): failed, 10 tries\n") &&
                 Catch::Contains("task 'upload' (0) failed 10 times: 403 from the bucket\n") &&
                 Catch::Contains("hint: renew the token\n") && Catch::Contains("publish (1): cancelled\n") &&
                 Catch::Contains("because: task 'upload' (0) failed 10 times"));
  CHECK_THAT(said(nodes, {"report", "job1"}), Catch::StartsWith("job1: 1 task, 10 runs on ") &&
                                                  Catch::Contains("  1 more task settled without a run\n") &&
                                                  !Catch::Contains("without a recorded run"));
}

TEST_CASE("a job that waits for a GPU nobody has is refused with each node's reason") {
  Nodes nodes(2);
  nodes.gather();
  Process job = watched(nodes, "gpu");
  CHECK(job.ends() == 4);
  CHECK_THAT(job.err(), Catch::Contains("needs_impossible (301): no node could ever run task 'train'\n") &&
                            Catch::Contains("n0 never: has no gpu, needs 1\n") &&
                            Catch::Contains("n1 never: has no gpu, needs 1\n") && Catch::Contains("hint: "));
}

TEST_CASE("that one straggler makes a job slow is told by its report, and its graph marks the way there") {
  Nodes nodes(3, true);
  nodes.gather();
  CHECK(watched(nodes, "straggler").ends() == 0);

  const std::string report = said(nodes, {"report", "job1"});
  CHECK_THAT(report, Catch::StartsWith("job1: 32 tasks, 32 runs on ") &&
                         Catch::Contains("\nCritical path: 2 tasks, 1.") &&
                         Catch::Contains(": 1 preprocess (1.") && Catch::Contains(", 1 merge (") &&
                         Catch::Contains("\nWaiting time of tasks: ") && Catch::Contains("no free lane ") &&
                         Catch::Contains("\nBest schedule (estimate): 1.") &&
                         Catch::Contains("\nStragglers: ") && Catch::Contains("\npreprocess (20)  n"));

  Process graph({bin("dag"), "graph", "--address", nodes.address(), "job1"});
  CHECK(graph.ends() == 0);
  CHECK_THAT(graph.out(), Catch::StartsWith("digraph ") && Catch::Contains("color=red, penwidth=2"));

  // Colours and bars are for terminals whose users want them.
  CHECK_THAT(drawn(nodes, "", "watch job1"), Catch::Contains("\x1b[32m##"));
  CHECK_THAT(drawn(nodes, "NO_COLOR=1", "watch job1"),
             Catch::Contains("preprocess") && !Catch::Contains("\x1b[32m") && !Catch::Contains("##"));
}
