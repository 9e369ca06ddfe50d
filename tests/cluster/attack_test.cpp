// Jobs and strangers that mean harm, and processes that stand still: what they reach is their own.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cluster/gate.hpp"
#include "tests/cluster/starts.hpp"

using cluster::at;
using cluster::bin;
using cluster::comes_true;
using cluster::Gate;
using cluster::Nodes;
using cluster::Process;
using cluster::starts_in;

TEST_CASE("a worker process that is frozen for good goes, and nobody healthy") {
  dag::test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "starts").string();
  Gate gate;
  Nodes nodes(3, false, {}, {}, {"--lanes", "1"});
  nodes.gather();
  Process job(at(nodes, {bin("cluster_starts"), file, gate.path(), "3"}));
  REQUIRE(comes_true([&] { return starts_in(file).size() == 3; }));
  const int victim = GENERATE(0, 1, 2);
  const std::map<int, std::vector<pid_t>> before = starts_in(file);
  kill(before.at(victim).back(), SIGSTOP);
  REQUIRE(comes_true([&] { return starts_in(file).at(victim).size() > before.at(victim).size(); }));
  const auto after = starts_in(file);
  for (int task = 0; task < 3; ++task) {
    INFO("task " << task);
    if (task != victim) CHECK(after.at(task) == before.at(task));
    if (task != victim) CHECK(kill(before.at(task).back(), 0) == 0);
  }
  gate.open();
  CHECK(job.ends() == 0);
  CHECK_THAT(job.out(), Catch::Contains("sum 3\n"));
  nodes.end_all();
}

TEST_CASE("a worker process that is stopped for a moment goes on") {
  dag::test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "starts").string();
  Gate gate;
  Nodes nodes(1, false, {}, {}, {"--lanes", "1"});
  Process job(at(nodes, {bin("cluster_starts"), file, gate.path(), "1"}));
  REQUIRE(comes_true([&] { return !starts_in(file).empty(); }));
  const pid_t process = starts_in(file).at(0).back();
  for (int i = 0; i < 20; ++i) {
    kill(process, SIGSTOP);
    cluster::said(nodes, {"ls"});
    kill(process, SIGCONT);
  }
  gate.open();
  CHECK(job.ends() == 0);
  CHECK(starts_in(file).at(0).size() == 1);
}

TEST_CASE("a kernel that cuts off or overwrites what its process shares with its node ends itself alone") {
  Nodes nodes(1);
  Process job(at(nodes, {bin("cluster_cutting"), GENERATE("cut", "scribble")}));
  const auto ended = job.ends();
  INFO(job.err());
  CHECK(ended == 0);
  CHECK_THAT(job.out(), Catch::Contains("after 7\n"));
  Process hello(at(nodes, {bin("hello")}));
  CHECK(hello.ends() == 0);
  cluster::said(nodes, {"ls"});
  nodes.node(0).kill(SIGTERM);
  CHECK(nodes.node(0).ends() == 0);
}

TEST_CASE("a node that comes with a lower incarnation than it had is told so, and takes part") {
  Nodes nodes(3);
  const std::string kept = nodes.folder_of(2) + "/n2/incarnation";
  nodes.gather();
  nodes.node(2).kill(SIGKILL);
  nodes.node(2).ends();
  // As if its last start had been when the clock was a year ahead.
  std::uint32_t before = 0;
  REQUIRE(std::ifstream(kept) >> before);
  std::ofstream(kept) << before + 30'000'000;
  nodes.start(2);
  REQUIRE(nodes.node(0).says("n2 has joined"));
  cluster::said(nodes, {"ls"});
  nodes.node(2).kill(SIGKILL);
  nodes.node(2).ends();
  REQUIRE(unlink(kept.c_str()) == 0);
  nodes.start(2);
  REQUIRE(nodes.node(2).says("it comes back as incarnation"));
  REQUIRE(comes_true([&] {
    const auto shown = nlohmann::json::parse(cluster::said(nodes, {"node", "list", "--json"}));
    return shown.dump().find("\"n2\"") != std::string::npos;
  }));
  Process hello(at(nodes, {bin("hello")}, 2));
  const auto ended = hello.ends();
  if (ended != 0) nodes.end_all();
  INFO(nodes.logs());
  INFO(hello.err());
  CHECK(ended == 0);
}

// Tasks ran ahead of their homes and of the record: half a minute after the cancel more of them started
// than ever, and each process had 2 GB.
TEST_CASE("tasks that spawn without end stand still soon after their cancel") {
  dag::test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "runs").string();
  Nodes nodes(3);
  nodes.gather();
  Process submit({bin("dag"), "submit", "--address", nodes.address(), bin("cluster_endless"), file});
  REQUIRE(submit.ends() == 0);
  const auto runs = [&] {
    std::error_code missing;
    const auto size = std::filesystem::file_size(file, missing);
    return missing ? 0 : size;
  };
  REQUIRE(comes_true([&] { return runs() >= 50'000; }));
  const auto asks_for_a_second = [&] {
    const auto since = cluster::Clock::now();
    while (cluster::Clock::now() < since + std::chrono::seconds(1)) cluster::said(nodes, {"ls"});
  };
  cluster::said(nodes, {"cancel", "1"});
  CHECK(comes_true([&] {
    const auto before = runs();
    asks_for_a_second();
    return runs() == before;
  }));
  nodes.kill_all();
}

// The task had spawned until memory ran out, and did not hear that it was cancelled.
TEST_CASE("a kernel that spawns without end ends with its cancel") {
  dag::test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "runs").string();
  Nodes nodes(1);
  Process submit({bin("dag"), "submit", "--address", nodes.address(), bin("cluster_endless"), file, "one"});
  REQUIRE(submit.ends() == 0);
  REQUIRE(comes_true([&] { return std::filesystem::exists(file) && std::filesystem::file_size(file) > 0; }));
  cluster::said(nodes, {"cancel", "1"});
  Process wait(at(nodes, {bin("dag"), "wait", "1"}));
  CHECK(wait.ends() != 0);
  CHECK_THAT(cluster::said(nodes, {"ls"}), Catch::Contains("cancelled"));
}
