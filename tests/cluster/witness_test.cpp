// Two nodes that run jobs, and a third one that only sees to it that one of them has a majority.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cluster/running.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;

TEST_CASE("a witness lets a job of two nodes outlive one of them, and runs nothing itself") {
  dag::test::TemporaryDirectory directory;
  const std::string ledger = directory.path().string() + "/ledger";
  cluster::Gate gate;
  Nodes nodes(3, true, {}, {"--witness", "true"});
  nodes.gather();
  Process list(at(nodes, {bin("dag"), "node", "list"}));
  CHECK(list.ends() == 0);
  CHECK_THAT(list.out(), Catch::Contains("alive, witness"));

  Process job(at(nodes, {bin("cluster_ledger"), ledger, "200", gate.path()}));
  REQUIRE(job.says("quarter"));
  Process show(at(nodes, {bin("dag"), "show", "job1", "--json"}));
  REQUIRE(show.ends() == 0);
  const auto shown = nlohmann::json::parse(show.out());
  CHECK(shown["copies"].size() == 3);
  CHECK(shown["workers"].size() == 2);
  for (const auto& worker : shown["workers"]) CHECK(worker["node"] != "n2");

  Process explain(at(nodes, {bin("dag"), "explain", "job1"}));
  CHECK(explain.ends() == 0);
  CHECK_THAT(explain.out(),
             Catch::Contains("  n2: runs no task of this job: is a witness: it runs no jobs\n"));

  nodes.node(0).kill(SIGKILL);
  gate.open();
  const auto ended = job.ends();
  INFO(nodes.logs());
  INFO(job.err());
  CHECK(ended == 0);
  CHECK_THAT(job.out(), Catch::Contains("sum " + std::to_string(200 * 199 / 2) + "\n"));
  CHECK(cluster::entered_in(ledger).size() == 200);
}

TEST_CASE("who submits to a witness is sent on") {
  Nodes nodes(3, true, {}, {"--witness", "true"});
  nodes.gather();
  Process hello(at(nodes, {bin("hello")}, 2));
  const auto ended = hello.ends();
  INFO(hello.err());
  CHECK(ended == 0);
  CHECK(hello.out() == "5\n");
}
