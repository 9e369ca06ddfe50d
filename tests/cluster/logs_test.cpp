// Logs of tasks and output of processes, asked for while they run, when they are over, and when the nodes are
// gone.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

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

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Each number once or more often, of `line NUMBER` behind the name of a task.
std::set<int> said_in(const std::string& text) {
  std::set<int> numbers;
  for (const std::string& line : lines_in(text)) {
    const std::size_t at = line.find(": line ");
    if (at != std::string::npos && line.starts_with("say (")) numbers.insert(std::stoi(line.substr(at + 7)));
  }
  return numbers;
}

/// Until it is submitted.
void wait_for_job(const Nodes& nodes) {
  REQUIRE(cluster::comes_true([&] { return Process(at(nodes, {bin("dag"), "show", "1"})).ends() == 0; }));
}

}  // namespace

TEST_CASE(
    "who follows the log of a job sees each line as it comes, and the same lines are there afterwards") {
  Nodes nodes(2, true);
  nodes.gather();
  Gate gate;
  Process job(at(nodes, {bin("cluster_talking"), gate.path(), "20"}));
  wait_for_job(nodes);
  Process follows(at(nodes, {bin("dag"), "logs", "-f", "last", "--patience", "20"}));
  CHECK(follows.says("said by greet"));
  CHECK(follows.says("printed by greet"));
  CHECK(follows.says("and on stderr"));
  CHECK(said_in(follows.out()).empty());
  CHECK_THAT(follows.out(), Catch::Contains("greet (0)@n") && Catch::Contains("#1: said by greet\n") &&
                                Catch::Matches("(?:.|\n)*n\\d/w1: printed by greet\n(?:.|\n)*"));
  gate.open();
  CHECK(job.ends() == 0);
  CHECK_THAT(job.err(), Catch::Contains("greet (0): said by greet\n") && Catch::Contains("): line 19\n"));
  CHECK(follows.ends() == 0);
  INFO(follows.err());
  CHECK(said_in(follows.out()).size() == 20);

  const std::string all = said(nodes, {"logs", "1"});
  CHECK(said_in(all).size() == 20);
  CHECK(lines_in(all).size() == 23);
  CHECK_THAT(all, Catch::Contains("and on stderr"));
  const std::string some = said(nodes, {"logs", "1/say", "--tail", "3"});
  CHECK(lines_in(some).size() == 3);
  CHECK(said_in(some).size() == 3);
  CHECK_THAT(said(nodes, {"logs", "1/sya"}, 5), Catch::Contains("no log lines of a task 'sya' of job1"));
  CHECK_THAT(said(nodes, {"logs", "9"}, 5), Catch::Contains("job9"));
  std::uint64_t with_task = 0;
  for (const std::string& line : lines_in(said(nodes, {"logs", "1", "--json"}))) {
    const json one = json::parse(line);
    CHECK(one.at("job") == "job1");
    if (one.contains("task")) {
      ++with_task;
      CHECK(one.at("attempt") == 1);  // As Context::attempt says, also where it went to another process.
    }
  }
  CHECK(with_task == 21);
  // Logs are no events.
  CHECK_THAT(said(nodes, {"history", "1"}), !Catch::Contains("printed by greet"));

  std::vector<std::string> words{bin("dag"), "logs", "1", "--from"};
  for (std::uint32_t id = 0; id < nodes.count(); ++id) words.push_back(nodes.folder_of(id) + "/data");
  nodes.kill_all();
  Process afterwards(words);
  CHECK(afterwards.ends() == 0);
  CHECK(said_in(afterwards.out()).size() == 20);
}

TEST_CASE("a node is killed while somebody follows: it is a gap, and what it had comes when it is back") {
  Nodes nodes(3, true);
  nodes.gather();
  Gate gate, second;
  Process job(at(nodes, {bin("cluster_talking"), gate.path(), "300", second.path()}));
  wait_for_job(nodes);
  Process follows(at(nodes, {bin("dag"), "logs", "-f", "1"}));
  CHECK(follows.says("said by greet"));
  gate.open();
  CHECK(follows.says(": line 50\n"));
  nodes.node(1).kill(SIGKILL);
  CHECK(follows.says("--- n1: lines are missing"));
  nodes.start(1);
  // All that was said before, also by processes that were killed with their node before it was written. One
  // lane is blocked by the second gate: the others take what waits behind it.
  const auto first_half = [&] {
    const std::set<int> lines = said_in(said(nodes, {"logs", "1"}));
    return std::distance(lines.begin(), lines.lower_bound(150)) == 150;
  };
  REQUIRE(cluster::comes_true(first_half));
  second.open();
  CHECK(job.ends() == 0);
  const auto ended = follows.ends();
  INFO(follows.err());
  CHECK(ended == 0);
  CHECK(said_in(follows.out()).size() == 300);
  CHECK(said_in(said(nodes, {"logs", "1"})).size() == 300);
}

TEST_CASE("what the processes of a job hold is told by the names of tasks") {
  Nodes nodes(2, true);
  nodes.gather();
  Gate gate;
  Process job(at(nodes, {bin("cluster_talking"), gate.path(), "3"}));
  wait_for_job(nodes);
  json held;
  const bool holds = cluster::comes_true([&] {
    held = json::parse(said(nodes, {"mem", "last", "--json"})).at("jobs").at(0);
    std::uint64_t greeted = 0;
    for (const json& process : held.at("processes")) {
      for (const json& one : process.at("held")) greeted += one.at("name") == "greet" ? 1 : 0;
    }
    return greeted > 0 && held.at("bytes") >= 4;
  });
  INFO(held.dump(2));
  REQUIRE(holds);
  CHECK_THAT(said(nodes, {"mem"}), Catch::Contains("job1 (talking) holds") && Catch::Contains("greet"));
  // And what a node is busy with.
  std::string there;
  for (const char* node : {"n0", "n1"}) there += said(nodes, {"explain", node});
  CHECK_THAT(there, Catch::Contains("gate ("));
  CHECK_THAT(said(nodes, {"explain", "n7"}, 5), Catch::Contains("there is no n7"));
  gate.open();
  CHECK(job.ends() == 0);
}
