// What was acknowledged outlives the nodes: those that lead a job are killed, or all at once.

#include "tests/cluster/running.hpp"

using cluster::at;
using cluster::bin;
using cluster::entered_in;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;

TEST_CASE("a job goes on when the node dies to which its client was connected, and which led its record") {
  Running running(3, false, 100);
  running.nodes.node(0).kill(SIGKILL);
  running.check_end();
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
  for (;;) {
    Process list({bin("dag"), "ls", "--address", nodes.address()});
    REQUIRE(list.ends() == 0);
    if (list.out().find("no quorum") != std::string::npos) break;
    REQUIRE_FALSE(running.job->out().find("sum") != std::string::npos);
  }
  Process show({bin("dag"), "show", "job1", "--address", nodes.address()});
  CHECK(show.ends() != 0);
  CHECK_THAT(show.err(), Catch::Contains("no_quorum") && Catch::Contains("job1"));
  for (const std::uint32_t id : {1u, 2u}) nodes.start(id);
  running.check_end();
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
  Process told(at(nodes, {bin("cluster_ledger"), running.ledger + "2", "20"}));
  REQUIRE(told.says("quarter"));
  running.job->kill(SIGKILL);  // The job is the cluster's from when it was submitted.
  nodes.kill_all();
  nodes.start_all();
  Process end({bin("dag"), "wait", "job1", "--address", nodes.address()});
  CHECK(end.ends() == 0);
  INFO(end.err());
  CHECK(told.ends() == 0);  // It waited for the only node to come back.
  CHECK_THAT(told.out(), Catch::Contains("sum 190\n"));
  CHECK(entered_in(running.ledger).size() == 200);
  nodes.kill_all();  // Of job1 it may be left that it has ended: its client might ask for outputs.
  nodes.start_all();
  Process next(at(nodes, {bin("cluster_ledger"), running.ledger, "4"}));
  CHECK(next.ends() == 0);
  Process list({bin("dag"), "ls", "--address", nodes.address()});
  CHECK(list.ends() == 0);
  CHECK_THAT(list.out(), Catch::Contains("job3  ledger  finished"));
}
