// Nodes that are to go: what they have of jobs goes to others, and then nobody misses them.

#include <nlohmann/json.hpp>

#include "tests/cluster/running.hpp"

using cluster::at;
using cluster::bin;
using cluster::comes_true;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;

namespace {

/// The last line that is JSON.
nlohmann::json last_json(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  const std::size_t before = text.rfind('\n', end);
  return nlohmann::json::parse(text.substr(before == std::string::npos ? 0 : before + 1));
}

/// As the node says it that leads the job: others do not know its copies.
nlohmann::json shown(const Nodes& nodes, const std::string& job, const std::vector<std::size_t>& by) {
  nlohmann::json said;
  REQUIRE(comes_true([&] {
    return std::any_of(by.begin(), by.end(), [&](std::size_t node) {
      said = last_json(cluster::said(nodes, {"show", job, "--json"}, 0, node));
      REQUIRE(said["phase"] == "running");
      return !said["copies"].empty();
    });
  }));
  return said;
}

void drain(const Nodes& nodes, const std::string& node, std::size_t by) {
  Process drain(at(nodes, {bin("dag"), "node", "drain", node}, by));
  const auto ended = drain.ends();
  INFO(nodes.logs());
  INFO(drain.err());
  CHECK(ended == 0);
  CHECK_THAT(drain.out(), Catch::Contains(node + " is drained"));
}

void stop(Nodes& nodes, std::size_t node) {
  nodes.node(node).kill(SIGTERM);
  CHECK(nodes.node(node).ends() == 0);
}

}  // namespace

TEST_CASE("a node that leads a job is drained and stopped: the job goes on, and its client with it") {
  Running running(4, true, 1500);
  Nodes& nodes = running.nodes;
  drain(nodes, "n0", 1);
  const nlohmann::json job = shown(nodes, "job1", {1, 2, 3});
  for (const auto& copy : job["copies"]) CHECK(copy != "n0");
  CHECK(job["copies"].size() == 3);
  for (const auto& worker : job["workers"]) CHECK((worker["node"] != "n0" || !worker["up"]));
  stop(nodes, 0);
  running.check_end();
}

TEST_CASE("a cluster of two keeps a job while one node goes, and the other one when it is back") {
  Running running(2, false, 1000);
  Nodes& nodes = running.nodes;
  drain(nodes, "n0", 0);
  stop(nodes, 0);
  nodes.start(0);
  REQUIRE(nodes.node(0).says("n1 has joined"));
  drain(nodes, "n1", 0);
  stop(nodes, 1);
  running.check_end();
}

TEST_CASE("a node that is to go takes no jobs, until it stays after all") {
  Nodes nodes(2, true);
  nodes.gather();
  Process drained(at(nodes, {bin("dag"), "node", "drain", "0", "--json"}));
  REQUIRE(drained.ends() == 0);
  CHECK(last_json(drained.out())["drained"] == true);
  Process job(at(nodes, {bin("hello")}));  // The job goes to the other node.
  CHECK(job.ends() == 0);
  CHECK(job.out() == "5\n");
  Process list(at(nodes, {bin("dag"), "node", "list"}));
  CHECK(list.ends() == 0);
  CHECK_THAT(list.out(), Catch::Contains("alive, draining"));
  Process last(at(nodes, {bin("dag"), "node", "drain", "n1"}));
  CHECK(last.ends() == 4);
  CHECK_THAT(last.err(),
             Catch::Contains("no other node accepts jobs") && Catch::Contains("dag node undrain"));
  Process unknown(at(nodes, {bin("dag"), "node", "drain", "n7"}));
  CHECK(unknown.ends() == 5);
  CHECK_THAT(unknown.err(), Catch::Contains("there is no n7"));
  Process undrained(at(nodes, {bin("dag"), "node", "undrain", "n0"}));
  CHECK(undrained.ends() == 0);
  REQUIRE(nodes.node(0).says("accepts jobs again"));
  REQUIRE(comes_true([&] {  // With its next heartbeat.
    return cluster::said(nodes, {"node", "list"}).find("draining") == std::string::npos;
  }));
  Process here(at(nodes, {bin("hello")}));
  CHECK(here.ends() == 0);
}
