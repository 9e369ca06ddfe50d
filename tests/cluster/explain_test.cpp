// Why is it not running, and what happened? With real nodes: while a job is in trouble, when it is over, and
// when the nodes are gone.

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

void submit(const Nodes& nodes, const std::vector<std::string>& job) {
  std::vector<std::string> words = at(nodes, {bin("dag"), "submit"});
  words.insert(words.end(), job.begin(), job.end());
  Process process(words);
  const auto ended = process.ends();
  INFO(process.err());
  REQUIRE(ended == 0);
}

json explained(const Nodes& nodes, const std::string& what) {
  return json::parse(said(nodes, {"explain", what, "--json"}));
}

/// Asks until it is so: what is asked for takes some moments.
json wait_for(const Nodes& nodes, const std::string& what, const std::function<bool(const json&)>& so) {
  json now;
  const bool is_so = cluster::comes_true([&] { return so(now = explained(nodes, what)); });
  INFO(now.dump(2));
  REQUIRE(is_so);
  return now;
}

}  // namespace

TEST_CASE("what hangs, what fails and what waits for either is told by one command each") {
  Nodes nodes(3, true);
  nodes.gather();
  Gate gate;
  submit(nodes, {bin("cluster_troubled"), gate.path()});

  // The straggler: where it runs, for how long, and what its like take.
  const json parts = wait_for(nodes, "job1/part", [](const json& now) {
    return now["counts"]["ended"] == 7 && now["tasks"][0].contains("lane") &&
           now["tasks"][0].contains("usual_seconds");
  });
  CHECK(parts["tasks"][0]["task"] == "7");
  CHECK(parts["tasks"][0]["usual_seconds"].get<double>() < 1);
  const std::string hangs = said(nodes, {"explain", "job1/part"});
  CHECK_THAT(hangs, Catch::Contains("8 tasks: ") && Catch::Contains("part (7): runs on lane ") &&
                        Catch::Contains("usually take"));

  // The one that fails: how often, why, and when it is tried again.
  wait_for(nodes, "job1/flaky",
           [](const json& now) { return !now["tasks"].empty() && now["tasks"][0]["failures"] == 1; });
  const std::string fails = said(nodes, {"explain", "job1/flaky"});
  CHECK_THAT(fails, Catch::Contains("flaky (8): waits for its next attempt, in ") &&
                        Catch::Contains("failed once so far") &&
                        Catch::Contains("the last failure: the price service does not answer"));

  // Its journals tell what its homes do not: of a try that failed, and of tasks that have ended, where and
  // why.
  wait_for(nodes, "job1/flaky", [](const json& now) {
    const json& past = now["past"];
    return !past.empty() &&
           past[0]["steps"].dump().find("the price service does not answer") != std::string::npos;
  });
  CHECK_THAT(said(nodes, {"explain", "job1/flaky"}),
             Catch::Contains("failed: the price service does not answer") &&
                 (Catch::Contains("chosen: ") || Catch::Contains("stolen from ")));
  wait_for(nodes, "job1/part/5-6", [](const json& now) {
    return now["past"].size() == 2 && now["past"][0].contains("settled_unix_ns") &&
           now["past"][1].contains("settled_unix_ns");
  });
  CHECK_THAT(said(nodes, {"explain", "job1/part/5-6"}), Catch::Contains("part (5): finished, settled\n") &&
                                                            Catch::Contains(" at n") &&
                                                            Catch::Contains(": finished\n      chosen: "));

  // Selected: tasks by their numbers, and tasks that failed.
  const json few = explained(nodes, "job1/part/5-8");
  CHECK(few["counts"]["ended"] == 2);
  CHECK(few["tasks"].size() == 3);
  CHECK_THAT(said(nodes, {"explain", "job1", "--failed"}),
             Catch::Contains("flaky (8)") && !Catch::Contains("part"));
  Process well(at(nodes, {bin("dag"), "explain", "job1/2", "--failed"}));
  CHECK(well.ends() == 0);
  CHECK_THAT(well.err(), Catch::Contains("no such task has failed"));
  for (const char* none : {"job1/parts/5-8", "job1/40-50", "job1/40"}) {
    Process unknown(at(nodes, {bin("dag"), "explain", none}));
    CHECK(unknown.ends() == 5);
    CHECK_THAT(unknown.err(), Catch::Contains("has no task"));
  }

  // The last one: both are what it waits for, over the sum between.
  const json report = explained(nodes, "job1/report");
  CHECK(report["tasks"][0]["state"] == "waiting");
  CHECK(report["waits_in_the_end_for"].size() == 2);
  const std::string waits = said(nodes, {"explain", "job1/report"});
  CHECK_THAT(waits, Catch::Contains("report (10): waits for ") &&
                        Catch::Contains("needs 1.0 MiB of memory; its priority is high") &&
                        Catch::Contains("Blocked by:") && Catch::Contains("part (7): runs on lane") &&
                        Catch::Contains("flaky (8): waits for"));

  // The job as a whole.
  const std::string whole = said(nodes, {"explain", "1"});
  CHECK_THAT(whole, Catch::Contains("job1 (troubled) runs for ") && Catch::Contains("2 waiting, 7 ended") &&
                        Catch::Contains("flaky (8)") && Catch::Contains(" lanes busy"));

  // Words that mean nothing.
  CHECK_THAT(said(nodes, {"explain", "job1/flakey"}, 5), Catch::Contains("has no task 'flakey'"));
  CHECK_THAT(said(nodes, {"explain", "job9/part"}, 5), Catch::Contains("job_unknown"));
  CHECK_THAT(said(nodes, {"explain", "job1/"}, 2), Catch::Contains("no task after the /"));

  // The job ends, and the journals of its nodes have its history.
  said(nodes, {"cancel", "job1"});
  gate.open();
  said(nodes, {"wait", "job1"}, 1);
  const json history = json::parse(said(nodes, {"history", "--json"}));
  REQUIRE(history["jobs"].size() == 1);
  CHECK(history["jobs"][0]["end"] == "cancelled");
  CHECK(history["jobs"][0]["name"] == "troubled");
  CHECK(history["jobs"][0]["tasks_submitted"] == 11);
  CHECK_THAT(said(nodes, {"explain", "job1/flaky"}), Catch::Contains("flaky (8): cancelled, settled at"));
  CHECK_THAT(said(nodes, {"history", "job1", "--task", "part"}), Catch::Contains("settled: finished"));
  CHECK_THAT(said(nodes, {"history", "job2"}, 5), Catch::Contains("no journal of these nodes says anything"));

  // The same when all of them are gone.
  nodes.kill_all();
  std::vector<std::string> words{bin("dag"), "history", "--json", "--from"};
  for (std::uint32_t id = 0; id < nodes.count(); ++id) words.push_back(nodes.folder_of(id) + "/data");
  Process offline(words);
  CHECK(offline.ends() == 0);
  CHECK(json::parse(offline.out()) == history);
}

TEST_CASE("of a job that is over, the tasks that failed tell their stories") {
  Nodes nodes(1);
  submit(nodes, {bin("cluster_failing")});
  said(nodes, {"wait", "job1"}, 1);
  CHECK_THAT(said(nodes, {"explain", "job1", "--failed"}),
             Catch::Contains("broken (0): failed after 2 tries, settled at") &&
                 Catch::Contains("failed: the disk said no") && !Catch::Contains("needs it (1): "));
  Process well(at(nodes, {bin("dag"), "explain", "job1/1", "--failed"}));
  CHECK(well.ends() == 0);
  CHECK_THAT(well.err(), Catch::Contains("none of these tasks failed"));
}

TEST_CASE("a process that is stopped is named, and what the others know is told") {
  Nodes nodes(2);
  nodes.gather();
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  const json info = wait_for(nodes, "job1/gate", [](const json& now) {
    return !now["tasks"].empty() && now["tasks"][0].contains("lane");
  });
  const std::string where = info["tasks"][0]["at"];
  pid_t stopped = 0;
  for (const json& worker : info["job"]["workers"]) {
    if (worker["process"] == where) stopped = worker["pid"].get<pid_t>();
  }
  REQUIRE(stopped > 0);
  kill(stopped, SIGSTOP);
  const std::string text = said(nodes, {"explain", "job1"});
  kill(stopped, SIGCONT);
  CHECK_THAT(text, Catch::Contains(where + " has not answered"));
  gate.open();
  said(nodes, {"wait", "job1"});
}

TEST_CASE("nodes without a journal say so, and how to get one") {
  Nodes nodes(1, false, {}, {"--journal", "false"});
  const std::string why = said(nodes, {"history"}, 5);
  CHECK_THAT(why, Catch::Contains("n0 keeps no journal") && Catch::Contains("journal = false"));
}

TEST_CASE("nodes that keep nothing else keep what happened until they are started again") {
  Nodes nodes(1);
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  gate.open();
  said(nodes, {"wait", "job1"});
  CHECK_THAT(said(nodes, {"history"}), Catch::Contains("job1"));
  nodes.end_all();
  Process afterwards({bin("dag"), "history", "job1", "--from", nodes.folder_of(0)});
  CHECK(afterwards.ends() == 0);
  CHECK_THAT(afterwards.out(), Catch::Contains("settled: finished"));
  nodes.start_all();
  said(nodes, {"history"}, 5);
}
