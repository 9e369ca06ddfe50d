// `dag watch` against real nodes: to a job's end, and while the cluster goes away.

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cluster/gate.hpp"
#include "tests/cluster/nodes.hpp"

using cluster::at;
using cluster::bin;
using cluster::Gate;
using cluster::Nodes;
using cluster::Process;

namespace {

void submit(const Nodes& nodes, const std::vector<std::string>& job) {
  std::vector<std::string> words = at(nodes, {bin("dag"), "submit"});
  words.insert(words.end(), job.begin(), job.end());
  Process process(words);
  const auto ended = process.ends();
  INFO(process.err());
  REQUIRE(ended == 0);
  REQUIRE(process.out() == "job1\n");
}

/// A `dag watch` that has seen that the job waits for its gate.
std::unique_ptr<Process> watching(const Nodes& nodes, const std::string& patience) {
  auto watch = std::make_unique<Process>(
      at(nodes, {bin("dag"), "watch", "job1", "--every", "0.1", "--patience", patience}));
  const bool said = watch->says(" 1/3 tasks");
  INFO(watch->err());
  REQUIRE(said);
  return watch;
}

void check_end(Process& watch, int status, const std::string& says) {
  const auto ended = watch.ends();
  INFO(watch.out());
  INFO(watch.err());
  CHECK(ended == status);
  CHECK_THAT(watch.out() + watch.err(), Catch::Contains(says));
}

std::vector<nlohmann::json> lines_in(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("a job is watched to its end, in lines and in JSON") {
  Nodes nodes(1);
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  const auto watch = watching(nodes, "30");
  Process json(at(nodes, {bin("dag"), "watch", "1", "--json"}));
  REQUIRE(json.says("\"finished\":1"));
  gate.open();
  check_end(*watch, 0, "job1 gate: finished");
  CHECK_THAT(watch->out(), Catch::Contains("3/3 tasks (100%)") && !Catch::Contains("\x1b"));
  CHECK(watch->err() == "");
  CHECK(json.ends() == 0);
  const std::vector<nlohmann::json> lines = lines_in(json.out());
  REQUIRE(lines.size() >= 2);
  CHECK(lines.front()["critical_path_tasks"] == 2);  // The task that waits at the gate, and its successor.
  CHECK(lines.back()["critical_path_tasks"].is_null());
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) CHECK(lines[i]["phase"] != "finished");
  CHECK(lines.back()["phase"] == "finished");
  CHECK(lines.back()["counts"]["finished"] == 3);
  CHECK(lines.back()["details"]["classes"].size() == 3);
  // A job that has ended is shown once.
  Process again(at(nodes, {bin("dag"), "watch", "job1", "--json"}));
  CHECK(again.ends() == 0);
  CHECK(lines_in(again.out()).size() == 1);
}

TEST_CASE("a job that fails or is cancelled ends its watcher with 1, and one that is not there with 5") {
  Nodes nodes(1);
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  const auto watch = watching(nodes, "30");
  Process cancel(at(nodes, {bin("dag"), "cancel", "job1"}));
  CHECK(cancel.ends() == 0);
  REQUIRE(watch->says(" cancelled"));  // Else the task behind the gate might run before it is told.
  gate.open();
  check_end(*watch, 1, "job1 gate: cancelled");

  Process failing(at(nodes, {bin("cluster_failing")}));
  CHECK(failing.ends() == 1);
  Process failed(at(nodes, {bin("dag"), "watch", "job2"}));
  check_end(failed, 1, "job2 failing: failed");
  CHECK_THAT(failed.err(), Catch::Contains("dag show job2"));
  Process unknown(at(nodes, {bin("dag"), "watch", "job9"}));
  check_end(unknown, 5, "job_unknown");
}

TEST_CASE("a watcher ends when it is interrupted, and the job goes on") {
  Nodes nodes(1);
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  const auto watch = watching(nodes, "30");
  watch->kill(SIGINT);
  CHECK(watch->ends() == 130);
  gate.open();
  Process wait(at(nodes, {bin("dag"), "wait", "job1"}));
  CHECK(wait.ends() == 0);
}

TEST_CASE("a cluster that goes away is asked again for a while, and then the watcher ends") {
  Nodes nodes(1);
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  const auto watch = watching(nodes, "1");
  nodes.kill_all();
  check_end(*watch, 8, "cluster_lost");
  CHECK_THAT(watch->err(),
             Catch::Contains("trying again for 1 s") && Catch::Contains("no answer about job1"));
}

TEST_CASE("a watcher goes on when nodes that keep jobs are started again") {
  Nodes nodes(3, true);
  nodes.gather();
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  const auto watch = watching(nodes, "600");
  nodes.kill_all();
  REQUIRE(watch->says("trying again"));
  nodes.start_all();
  REQUIRE(watch->says("answers again"));
  gate.open();
  check_end(*watch, 0, "job1 gate: finished");
}

TEST_CASE("a watcher goes on at another node when the one dies that it asked") {
  Nodes nodes(3);
  nodes.gather();
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  const auto watch = watching(nodes, "600");
  nodes.node(0).kill(SIGKILL);
  REQUIRE(watch->says("answers again"));
  gate.open();
  check_end(*watch, 0, "job1 gate: finished");
}

TEST_CASE("a node that keeps its connection and does not answer is as good as gone, until it answers again") {
  Nodes nodes(1);
  Gate gate;
  submit(nodes, {bin("cluster_gate"), gate.path()});
  const auto watch = watching(nodes, "600");
  nodes.node(0).kill(SIGSTOP);
  REQUIRE(watch->says("trying again"));
  CHECK_THAT(watch->err(), Catch::Contains("has not answered for 10 s"));
  nodes.node(0).kill(SIGCONT);
  REQUIRE(watch->says("answers again"));
  gate.open();
  check_end(*watch, 0, "job1 gate: finished");
}
