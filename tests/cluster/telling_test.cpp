// News of a running job for people: progress that kernels report, events of attempts, lanes that were given
// up, the queue for a lane, and the last words of cancelled tasks.

#include <nlohmann/json.hpp>

#include "tests/cluster/gate.hpp"
#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Gate;
using cluster::Nodes;
using cluster::Process;
using cluster::said;
using nlohmann::json;

namespace {

/// Asks until it says so.
std::string until_said(const Nodes& nodes, const std::vector<std::string>& words, const std::string& text) {
  std::vector<std::string> command = at(nodes, words);
  command.insert(command.begin(), bin("dag"));
  std::string out, err;
  const bool is_said = cluster::comes_true([&] {
    Process process(command);
    process.ends();
    out = process.out();
    err = process.err();
    return out.find(text) != std::string::npos;
  });
  INFO(out << err);
  REQUIRE(is_said);
  return out;
}

}  // namespace

TEST_CASE("how far a kernel is, and what happened to attempts, is told while the job runs") {
  Nodes nodes(2, true);
  nodes.gather();
  Gate gate;
  Process job(at(nodes, {bin("cluster_telling"), gate.path()}));
  // A task that takes its process down takes other tasks along: then those start again.
  REQUIRE(job.says("3 poison 3 1: attempt 1 crashed its process: "));
  CHECK(job.says("2 flaky 1 1: attempt 1 failed: the service does not answer; attempt 2 follows"));
  CHECK(job.says("4 late 2 1: attempt 1 is too late: "));
  until_said(nodes, {"show", "1"}, "8 finished, 1 open");

  const std::string says = "half (0): 45 %, loss 0.5";
  CHECK_THAT(until_said(nodes, {"show", "1"}, "  says  "), Catch::Contains(says));
  CHECK_THAT(said(nodes, {"top", "--once"}), Catch::Contains(says));
  CHECK_THAT(said(nodes, {"explain", "1/half"}), Catch::Contains("says: 45 %, loss 0.5"));
  const json shown = json::parse(said(nodes, {"show", "1", "--json"}));
  CHECK(shown["total_tasks"] == 9);
  REQUIRE(shown["details"]["progress"].size() == 1);
  CHECK(shown["details"]["progress"][0]["task"] == "0");
  CHECK(shown["details"]["progress"][0]["fraction"] == 0.45);
  Process watch(at(nodes, {bin("dag"), "watch", "1"}));
  CHECK(watch.says("8/9 tasks (88%)"));
  CHECK(watch.says("half (0) 45 %, loss 0.5"));

  gate.open();
  CHECK(job.ends() == 0);
  CHECK(watch.ends() == 0);
  CHECK_THAT(said(nodes, {"show", "1"}), !Catch::Contains("  says  "));
}

TEST_CASE("a lane that was given up, the queue for a lane, and last words are told") {
  Nodes nodes(1, true, {}, {}, {"--lanes", "2"});
  Gate gate;
  Process job(at(nodes, {bin("cluster_telling"), gate.path(), "deaf"}));
  const std::string deaf = until_said(nodes, {"explain", "1/deaf"}, "was given up on lane ");
  CHECK_THAT(deaf, Catch::Contains(" of n0/w1: its kernel still runs, for ") &&
                       Catch::Contains("1 given-up kernel not returned"));
  // `polite` has a lane until it is cancelled, so the others wait for the other one.
  CHECK_THAT(until_said(nodes, {"explain", "1/wait"}, "starts in about "),
             Catch::Contains("queued on n0/w1: ") && Catch::Contains(" in line for a lane") &&
                 Catch::Contains(", from ") && Catch::Contains("starts now with 1 more free lane: "));
  CHECK(job.says("first words"));
  said(nodes, {"cancel", "1"});
  CHECK(job.says("last words"));  // Before it hears of the end.
  gate.open();
  CHECK(job.ends() == 1);
  CHECK_THAT(until_said(nodes, {"logs", "1"}, "last words"), Catch::Contains("polite (1)@n0#1: last words"));
}

TEST_CASE("a kernel that was told to stop, and has not returned, is told of while the next attempt waits") {
  Nodes nodes(1, true, {}, {}, {"--lanes", "2"});
  Gate gate;
  Process job(at(nodes, {bin("cluster_telling"), gate.path(), "stopping"}));
  until_said(nodes, {"explain", "1/deaf"}, "was told to stop, and its kernel has not returned");
  said(nodes, {"cancel", "1"});
  gate.open();
  CHECK(job.ends() == 1);
}
