// What happened is in the journals of nodes, however nodes and processes of jobs have ended.

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/cluster/gate.hpp"
#include "tests/cluster/running.hpp"
#include "tests/support/file_text.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;
using cluster::Running;

TEST_CASE("all nodes are killed at once: where each task ran before that is known when they are back") {
  Running running(3, true, 200);
  Nodes& nodes = running.nodes;
  nodes.kill_all();
  nodes.start_all();
  running.check_end();
  std::vector<std::string> words{bin("dag"), "trace", "1", "-o", running.ledger + ".json", "--from"};
  for (std::uint32_t id = 0; id < nodes.count(); ++id) {
    nodes.node(id).kill(SIGTERM);
    CHECK(nodes.node(id).ends() == 0);
    words.push_back(nodes.folder_of(id) + "/data");
  }
  Process traced(words);
  CHECK(traced.ends() == 0);
  INFO(traced.err());
  const auto trace = nlohmann::json::parse(dag::test::text_of(running.ledger + ".json"));
  std::set<std::string> tasks, processes;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") tasks.insert(event.at("args").at("task").get<std::string>());
    if (event.at("name") == "process_name") processes.insert(event.at("args").at("name").get<std::string>());
  }
  CHECK(tasks.size() == 201);  // And the sum of them.
  for (const char* worker : {"n0/w1", "n1/w1", "n2/w1"}) CHECK(processes.contains(worker));
}

TEST_CASE("the record of a job is taken elsewhere, and says there what the cluster said") {
  Nodes nodes(3);
  nodes.gather();
  const dag::test::TemporaryDirectory elsewhere;
  const std::string record = (elsewhere.path() / "job1").string();
  cluster::Gate gate;
  gate.open();
  REQUIRE(Process(at(nodes, {bin("cluster_talking"), gate.path(), "20"})).ends() == 0);
  // What is recorded comes into the journals a moment later.
  nlohmann::json there;
  std::string logs;
  for (const auto until = cluster::Clock::now() + cluster::patience; cluster::Clock::now() < until;) {
    there = nlohmann::json::parse(cluster::said(nodes, {"report", "1", "--json"}));
    logs = cluster::said(nodes, {"logs", "1"});
    const bool all =
        logs.find("said by greet") != std::string::npos && logs.find("printed by greet") != std::string::npos;
    if (all && there["settled"] == there["tasks"] && there["over"] == true) break;
  }
  cluster::said(nodes, {"history", "1", "--save", record});
  Process again(at(nodes, {bin("dag"), "history", "1", "--save", record}));
  CHECK(again.ends() == 2);
  CHECK_THAT(again.err(), Catch::Contains("is there already"));
  nodes.kill_all();

  const auto read = [&](std::vector<std::string> words) {
    words.insert(words.begin(), bin("dag"));
    Process process(words);
    CHECK(process.ends() == 0);
    INFO(process.err());
    return process.out();
  };
  CHECK(nlohmann::json::parse(read({"report", "1", "--json", "--from", record})) == there);
  CHECK(read({"logs", "1", "--from", record}) == logs);
  CHECK_THAT(read({"view", record, "--job", "1"}), Catch::Contains("settled finished"));
  CHECK_THAT(read({"graph", "--json", "--from", record, "1"}), Catch::Contains("\"critical_path\""));
}

TEST_CASE("which nodes came and went is told where no job ran, and of a job who led its record") {
  Nodes nodes(3, true);
  nodes.gather();
  nodes.node(2).kill(SIGKILL);
  REQUIRE(nodes.node(0).says("n2 is gone"));
  nodes.start(2);
  REQUIRE(nodes.node(0).says("n2 is here"));
  const std::string nodes_said = cluster::said(nodes, {"history", "--nodes"});
  const auto says = [&](const char* pattern) { return std::regex_search(nodes_said, std::regex(pattern)); };
  INFO(nodes_said);
  CHECK(says("  n0  member n0\\.[0-9]+ up: it has started, at "));
  CHECK(says("  n0  member n2\\.[0-9]+ down: (its process died|found dead by another process)\n"));
  CHECK(says("  n0  member n2\\.[0-9]+ up: at [^\n]*\n(.*\n)*.*  n0  member n2\\.[0-9]+ up: at "));
  CHECK(says("  n2  member n2\\.[0-9]+ up: it has started"));
  CHECK(says("  n0  member n2\\.[0-9]+ has: [0-9]+ cpu lanes?, [0-9.]+ [GMT]iB\n"));
  Process job(at(nodes, {bin("hello")}));
  REQUIRE(job.ends() == 0);
  CHECK_THAT(cluster::said(nodes, {"history", "last"}), Catch::Contains("leads the job's record, term 1"));
  CHECK_THAT(cluster::said(nodes, {"history", "--nodes"}), !Catch::Contains("job"));
  // Out of the files alone, too, and as data.
  Process view({bin("dag"), "history", "--nodes", "--json", "--from", nodes.folder_of(0) + "/data"});
  REQUIRE(view.ends() == 0);
  const auto first = nlohmann::json::parse(view.out().substr(0, view.out().find('\n')));
  CHECK(first["kind"] == "member");
  CHECK_FALSE(first.contains("job"));
  CHECK_THAT(cluster::said(nodes, {"history", "last", "--nodes"}, 2), Catch::Contains("leave out the job"));
  // One that says nothing for a while.
  nodes.node(1).kill(SIGSTOP);
  const bool suspected = nodes.node(0).says("n1 is suspected: it is silent");
  nodes.node(1).kill(SIGCONT);
  INFO(nodes.node(0).err());
  REQUIRE(suspected);
  REQUIRE(nodes.node(0).says("n1 is heard again"));
  CHECK(std::regex_search(cluster::said(nodes, {"history", "--nodes"}),
                          std::regex("  n0  member n1\\.[0-9]+ suspected: it is silent\n(.*\n)*"
                                     ".*  n0  member n1\\.[0-9]+ heard again\n")));
}

TEST_CASE(
    "the trace has each edge of a job that grows, and its longest chain is the report's critical path") {
  Nodes nodes(3, true);
  nodes.gather();
  const std::string file = nodes.folder_of(0) + "/trace.json";
  Process job(at(nodes, {bin("train_gpt"), "--steps", "4", "--evaluate-every", "2", "--width", "32",
                         "--context", "16"}));
  const auto ended = job.ends();
  INFO(job.err());
  REQUIRE(ended == 0);
  // What is recorded comes into the journals a moment later.
  nlohmann::json report, trace;
  for (const auto until = cluster::Clock::now() + cluster::patience; cluster::Clock::now() < until;) {
    Process said(at(nodes, {bin("dag"), "report", "1", "--json"}));
    Process traced(at(nodes, {bin("dag"), "trace", "1", "-o", file}));
    REQUIRE(said.ends() == 0);
    REQUIRE(traced.ends() == 0);
    report = nlohmann::json::parse(said.out());
    trace = nlohmann::json::parse(dag::test::text_of(file));
    Process shown(at(nodes, {bin("dag"), "show", "1", "--json"}));
    REQUIRE(shown.ends() == 0);
    const auto counts = nlohmann::json::parse(shown.out())["counts"];
    std::uint64_t settled = 0;
    for (const auto& count : counts) settled += count.get<std::uint64_t>();
    if (report["settled"] == settled) break;
  }
  // By nothing but the trace: each task's slice, and the arrows.
  std::map<std::string, double> took;
  std::multimap<std::string, std::string> before;
  for (const auto& event : trace.at("traceEvents")) {
    if (event["ph"] == "X") took[event["args"]["task"]] = event["dur"];
    if (event["ph"] == "s") before.emplace(event["args"]["to"], event["args"]["from"]);
  }
  CHECK(took.size() == report["tasks"]);
  CHECK(before.size() > took.size());
  std::map<std::string, double> longest_to;
  const std::function<double(const std::string&)> longest = [&](const std::string& task) {
    if (const auto known = longest_to.find(task); known != longest_to.end()) return known->second;
    double most = 0;
    const auto [begin, end] = before.equal_range(task);
    for (auto edge = begin; edge != end; ++edge) most = std::max(most, longest(edge->second));
    return longest_to[task] = most + took[task];
  };
  double path = 0;
  for (const auto& [task, span] : took) path = std::max(path, longest(task));
  CHECK(path > 0);
  CHECK(report["critical_path"]["seconds"].get<double>() * 1e6 == Approx(path).epsilon(0.001));
  CHECK(report["critical_path"]["seconds"] <= report["span_seconds"]);
  CHECK(report["delays"]["tasks"].get<int>() > 100);
}
