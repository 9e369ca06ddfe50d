// Acknowledged jobs outlive the nodes: nodes that lead a job are killed, or all at once.

#include <nlohmann/json.hpp>

#include "tests/cluster/gate.hpp"
#include "tests/cluster/running.hpp"
#include "tests/cluster/starts.hpp"

using cluster::at;
using cluster::bin;
using cluster::comes_true;
using cluster::entered_in;
using cluster::Gate;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;
using cluster::starts_in;

TEST_CASE("a job goes on when the node dies to which its client was connected, and which led its record") {
  Running running(3, false, 100);
  running.nodes.node(0).kill(SIGKILL);
  running.check_end();
}

namespace {

bool leads_a_job(const Nodes& nodes, std::uint32_t node) {
  Process show(at(nodes, {bin("dag"), "node", "show", std::to_string(node), "--json"}, node));
  REQUIRE(show.ends() == 0);
  return nlohmann::json::parse(show.out()).at("jobs") == 1;
}

}  // namespace

TEST_CASE("when the node that leads a job dies, what runs at the others goes on and is begun once") {
  dag::test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "starts").string();
  // Nodes have a lane each, and there is a node more than tasks: reruns need not wait.
  constexpr std::uint32_t count = 4;
  constexpr std::size_t tasks = 3;
  Gate gate;
  Nodes nodes(count, true, {}, {}, {"--lanes", "1"});
  nodes.gather();
  Process job(at(nodes, {bin("cluster_starts"), file, gate.path(), std::to_string(tasks)}));
  REQUIRE(comes_true([&] { return starts_in(file).size() == tasks; }));
  REQUIRE(leads_a_job(nodes, 0));
  std::set<int> healthy, lost;
  for (const auto& [task, processes] : starts_in(file)) {
    const bool there = cluster::node_of(processes.back()) == nodes.node(0).id();
    (there ? lost : healthy).insert(task);
  }
  REQUIRE(healthy.size() >= tasks - 1);
  nodes.node(0).kill(SIGKILL);
  REQUIRE(
      comes_true([&] { return leads_a_job(nodes, 1) || leads_a_job(nodes, 2) || leads_a_job(nodes, 3); }));
  for (const int task : lost) REQUIRE(comes_true([&] { return starts_in(file).at(task).size() == 2; }));
  gate.open();
  const auto ended = job.ends();
  nodes.end_all();
  INFO(nodes.logs());
  INFO(job.err());
  CHECK(ended == 0);
  CHECK_THAT(job.out(), Catch::Contains("sum 3\n"));
  const auto starts = starts_in(file);
  for (const int task : healthy) CHECK(starts.at(task).size() == 1);
}

TEST_CASE("all nodes are killed at once and started again: the job goes on, and its client with it") {
  Running running(3, true, 200);
  running.nodes.kill_all();
  running.nodes.start_all();
  running.check_end();
}

TEST_CASE("a node that is left alone with a job says that it has no quorum, until the others are back") {
  Running running(3, true, 200);
  Nodes& nodes = running.nodes;
  for (const std::size_t id : {1u, 2u}) nodes.node(id).kill(SIGKILL);
  REQUIRE(comes_true([&] {
    REQUIRE_FALSE(running.job->out().find("sum") != std::string::npos);
    return cluster::said(nodes, {"ls"}).find("no quorum") != std::string::npos;
  }));
  Process show({bin("dag"), "show", "job1", "--address", nodes.address()});
  CHECK(show.ends() != 0);
  CHECK_THAT(show.err(), Catch::Contains("no_quorum") && Catch::Contains("job1"));
  for (const std::uint32_t id : {1u, 2u}) nodes.start(id);
  running.check_end();
}

TEST_CASE("a cancel that no majority has is not acknowledged, and is asked again when the others are back") {
  Running running(3, true, 200);
  Nodes& nodes = running.nodes;
  for (const std::size_t id : {1u, 2u}) nodes.node(id).kill(SIGKILL);
  Process alone(at(nodes, {bin("dag"), "cancel", "job1"}));
  CHECK(alone.ends() != 0);
  INFO(alone.err());
  CHECK_THAT(alone.err(), Catch::Contains("no_quorum") && Catch::Contains("job1"));
  for (const std::uint32_t id : {1u, 2u}) nodes.start(id);
  Process again(at(nodes, {bin("dag"), "cancel", "job1"}));
  CHECK(again.ends() == 0);
  Process wait(at(nodes, {bin("dag"), "wait", "job1"}));
  CHECK(wait.ends() == 1);
  CHECK_THAT(wait.out(), Catch::Contains("cancelled"));
  CHECK(running.job->ends() != 0);
}

TEST_CASE("a node whose log is damaged puts it aside, and gets its copies from the others") {
  Running running(3, true, 200);
  Nodes& nodes = running.nodes;
  nodes.node(2).kill(SIGKILL);
  nodes.node(2).ends();
  {
    std::fstream log(nodes.folder_of(2) + "/data/log/segment-1",
                     std::ios::binary | std::ios::in | std::ios::out);
    log.seekp(4096 + 100);  // In the first record.
    log.write("damage", 6);
    REQUIRE(log.good());
  }
  nodes.start(2);
  CHECK(nodes.node(2).says("-damaged-"));
  nodes.node(1).kill(SIGKILL);  // Its new copy is needed now, or will be when this one is back.
  nodes.start(1);
  running.check_end();
}

TEST_CASE("a node that keeps jobs on its disk goes on with them alone, and with new numbers") {
  Running running(1, true, 200);
  Nodes& nodes = running.nodes;
  Process told(at(nodes, {bin("cluster_ledger"), running.ledger + "2", "20", running.gate.path()}));
  REQUIRE(told.says("quarter"));
  running.job->kill(SIGKILL);  // The job is the cluster's from when it was submitted.
  nodes.kill_all();
  nodes.start_all();
  running.gate.open();
  Process end({bin("dag"), "wait", "job1", "--address", nodes.address()});
  const std::optional<int> status = end.ends();
  INFO(end.out() + end.err());
  CHECK(status.value_or(-1) == 0);
  CHECK(told.ends() == 0);  // The client waited for the only node to come back.
  CHECK_THAT(told.out(), Catch::Contains("sum 190\n"));
  CHECK(entered_in(running.ledger).size() == 200);
  nodes.kill_all();  // job1's end may be all that is left of it: its client might ask for outputs.
  nodes.start_all();
  Process next(at(nodes, {bin("cluster_ledger"), running.ledger, "4", running.gate.path()}));
  CHECK(next.ends() == 0);
  Process list({bin("dag"), "ls", "--address", nodes.address()});
  CHECK(list.ends() == 0);
  CHECK_THAT(list.out(), Catch::Contains("job3  ledger  finished"));
}
