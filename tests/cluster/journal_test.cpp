// Journals of nodes have all events, however nodes and processes of jobs have ended.

#include <algorithm>
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

namespace {

struct Edge {
  std::string from, to, name;  ///< "data" or "order"
  auto operator<=>(const Edge&) const = default;
};
using Edges = std::multiset<Edge>;

/// A job as read from its trace alone.
struct Traced {
  struct Slice {
    int process = 0;
    double begin = 0, took = 0;
  };
  std::map<std::string, Slice> slices;  ///< by task; of each the newest one
  Edges arrows;
  std::set<std::string> processes;
  std::size_t left_out = 0;  ///< arrows

  explicit Traced(const std::string& file) {
    const auto trace = nlohmann::json::parse(dag::test::text_of(file));
    for (const auto& event : trace.at("traceEvents")) {
      const auto& about = event.value("args", nlohmann::json::object());
      if (event.at("ph") == "X") {
        const Slice slice{event.at("pid"), event.at("ts"), event.at("dur")};
        Slice& newest = slices.try_emplace(about.at("task"), slice).first->second;
        if (slice.begin > newest.begin) newest = slice;
      }
      if (event.at("ph") == "s") arrows.insert({about.at("from"), about.at("to"), event.at("name")});
      if (event.at("name") == "process_name") processes.insert(about.at("name"));
    }
    left_out = trace.at("otherData").at("arrows_left_out");
  }

  /// Each of these edges, of which both ends ran, is an arrow, or one of those that are said to be left out.
  /// Within a process none is, if no task ran again.
  void check_edges(const Edges& edges) const {
    std::size_t missing = 0, crossing = 0;
    for (const Edge& edge : edges) {
      const auto from = slices.find(edge.from), to = slices.find(edge.to);
      if (from == slices.end() || to == slices.end()) continue;
      const bool there = arrows.contains(edge);
      if (from->second.process != to->second.process) {
        ++crossing;
        missing += there ? 0 : 1;
      } else if (!there) {
        FAIL_CHECK(edge.name << " from " << edge.from << " to " << edge.to << " is no arrow");
      }
    }
    CHECK(missing == left_out);
    CHECK(missing < 1 + crossing / 10);  // Clocks of one host hardly differ.
    CHECK(std::includes(edges.begin(), edges.end(), arrows.begin(), arrows.end()));
  }
};

/// Edges of a job by its journal records.
Edges edges_of(const Nodes& nodes, const std::string& job) {
  Process drawn({bin("dag"), "graph", "--address", nodes.address(), "--json", job});
  REQUIRE(drawn.ends() == 0);
  const auto graph = nlohmann::json::parse(drawn.out());
  const auto task = [&](const nlohmann::json& id) {
    return graph.at("tasks").at(id.get<std::size_t>()).at("task").get<std::string>();
  };
  Edges edges;
  for (const auto& edge : graph.at("edges"))
    edges.insert({task(edge.at("from")), task(edge.at("to")), edge.at("data") == true ? "data" : "order"});
  return edges;
}

/// The report of a job that has ended, once all that it came to is in the journals: it comes there a moment
/// later.
nlohmann::json report_of(const Nodes& nodes, const std::string& job) {
  nlohmann::json report;
  const bool all = cluster::comes_true([&] {
    report = nlohmann::json::parse(cluster::said(nodes, {"report", job, "--json"}));
    const auto shown = nlohmann::json::parse(cluster::said(nodes, {"show", job, "--json"}));
    std::uint64_t settled = 0;
    for (const auto& count : shown["counts"]) settled += count.get<std::uint64_t>();
    return report["settled"] == settled && report["over"] == true;
  });
  INFO(job);
  REQUIRE(all);
  return report;
}

/// All that is told of a job: once nothing more comes.
std::string history_of(const Nodes& nodes, const std::string& job) {
  std::string before, now;
  REQUIRE(cluster::comes_true([&] {
    before = std::exchange(now, cluster::said(nodes, {"history", job, "--json"}));
    return now == before;
  }));
  return now;
}

std::vector<std::string> with_data_of(const Nodes& nodes, std::vector<std::string> words) {
  words.insert(words.begin(), bin("dag"));
  words.push_back("--from");
  for (std::uint32_t id = 0; id < nodes.count(); ++id) words.push_back(nodes.folder_of(id) + "/data");
  return words;
}

}  // namespace

TEST_CASE("all nodes are killed at once: where each task ran before that is known when they are back") {
  Running running(3, true, 200);
  Nodes& nodes = running.nodes;
  nodes.kill_all();
  nodes.start_all();
  running.check_end();
  const std::string file = running.ledger + ".json";
  for (std::uint32_t id = 0; id < nodes.count(); ++id) {
    nodes.node(id).kill(SIGTERM);
    CHECK(nodes.node(id).ends() == 0);
  }
  Process traced(with_data_of(nodes, {"trace", "1", "-o", file}));
  CHECK(traced.ends() == 0);
  INFO(traced.err());
  const Traced trace(file);
  CHECK(trace.slices.size() == 201);  // And the sum of them.
  for (const char* worker : {"n0/w1", "n1/w1", "n2/w1"}) CHECK(trace.processes.contains(worker));
  Edges edges;
  for (int entry = 0; entry < 200; ++entry) edges.insert({std::to_string(entry), "200", "data"});
  trace.check_edges(edges);
}

TEST_CASE(
    "all nodes are killed at once: what happened in jobs that had ended is told as before, to the line") {
  Nodes nodes(3, true);
  nodes.gather();
  REQUIRE(Process(at(nodes, {bin("cluster_mixture"), "20", "100"})).ends() == 0);  // The journal grows.
  REQUIRE(Process(at(nodes, {bin("cluster_failing")})).ends() == 1);               // Tasks fail in this one.
  std::map<std::string, std::string> before;
  for (const char* job : {"job1", "job2"}) {
    report_of(nodes, job);
    before[job] = history_of(nodes, job);
    for (const char* kind : {"job_began", "ran", "settled", "job_over"})
      CHECK_THAT(before[job], Catch::Contains("\"kind\":\"" + std::string(kind) + '"'));
  }
  CHECK_THAT(before["job1"], Catch::Contains("\"kind\":\"spawned\""));
  CHECK_THAT(before["job2"], Catch::Contains("\"kind\":\"retried\""));
  const auto is_the_same_in_the_files = [&] {
    for (const auto& [job, lines] : before) {
      Process read(with_data_of(nodes, {"history", job, "--json"}));
      CHECK(read.ends() == 0);
      CHECK(read.out() == lines);
    }
  };
  nodes.kill_all();
  is_the_same_in_the_files();
  nodes.start_all();
  nodes.gather();
  for (const auto& [job, lines] : before) CHECK(cluster::said(nodes, {"history", job, "--json"}) == lines);
  is_the_same_in_the_files();
}

TEST_CASE("the trace of one process has each edge, and that of several counts those that it leaves out") {
  const std::uint32_t count = GENERATE(1u, 3u);
  Nodes nodes(count, false, {}, {}, {"--lanes", "3"});
  if (count > 1) nodes.gather();
  constexpr std::size_t tasks = 12'000, width = 1000;
  REQUIRE(Process(at(nodes, {bin("cluster_layers"), std::to_string(tasks), "5"})).ends() == 0);
  report_of(nodes, "job1");
  const std::string file = nodes.folder_of(0) + "/trace.json";
  cluster::said(nodes, {"trace", "1", "-o", file});
  // As the job says, whatever the records do.
  Edges edges;
  for (std::size_t task = width; task < tasks; ++task) {
    for (const std::size_t above : {task % width, (task + 1) % width})
      edges.insert({std::to_string(task - task % width - width + above), std::to_string(task), "data"});
  }
  const Traced trace(file);
  CHECK(trace.slices.size() == tasks);
  CHECK(trace.arrows.size() + trace.left_out == edges.size());
  trace.check_edges(edges);
}

TEST_CASE("the record of a job is taken elsewhere, and says there what the cluster said") {
  Nodes nodes(3);
  nodes.gather();
  const dag::test::TemporaryDirectory elsewhere;
  const std::string record = (elsewhere.path() / "job1").string();
  cluster::Gate gate;
  gate.open();
  REQUIRE(Process(at(nodes, {bin("cluster_talking"), gate.path(), "20"})).ends() == 0);
  // Events come into the journals a moment later.
  nlohmann::json there;
  std::string logs;
  REQUIRE(cluster::comes_true([&] {
    there = nlohmann::json::parse(cluster::said(nodes, {"report", "1", "--json"}));
    logs = cluster::said(nodes, {"logs", "1"});
    const bool all =
        logs.find("said by greet") != std::string::npos && logs.find("printed by greet") != std::string::npos;
    return all && there["settled"] == there["tasks"] && there["over"] == true;
  }));
  cluster::said(nodes, {"history", "1", "--save", record});
  Process again(at(nodes, {bin("dag"), "history", "1", "--save", record}));
  CHECK(again.ends() == 2);
  CHECK_THAT(again.err(), Catch::Contains("exists and is not an empty directory"));
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
  CHECK_THAT(read({"view", record, "--job", "1"}), Catch::Contains("settled: finished"));
  CHECK_THAT(read({"graph", "--json", "--from", record, "1"}), Catch::Contains("\"critical_path\""));
}

TEST_CASE("which nodes came and went is told where no job ran, and of a job who led its record") {
  Nodes nodes(3, true);
  nodes.gather();
  nodes.node(2).kill(SIGKILL);
  REQUIRE(nodes.node(0).says("n2 is gone"));
  nodes.start(2);
  REQUIRE(nodes.node(0).says("n2 has joined"));
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
  const std::string told = cluster::said(nodes, {"history", "last"}), led = "leads the job's record, term ";
  CHECK_THAT(told, Catch::Contains(led));
  // The first election may need a second round, on a busy machine.
  CHECK(std::stoi(told.substr(told.find(led) + led.size())) >= 1);
  CHECK_THAT(cluster::said(nodes, {"history", "--nodes"}), !Catch::Contains("job"));
  // Out of the files alone, too, and as data.
  Process view({bin("dag"), "history", "--nodes", "--json", "--from", nodes.folder_of(0) + "/data"});
  REQUIRE(view.ends() == 0);
  const auto first = nlohmann::json::parse(view.out().substr(0, view.out().find('\n')));
  CHECK(first["kind"] == "member");
  CHECK_FALSE(first.contains("job"));
  CHECK_THAT(cluster::said(nodes, {"history", "last", "--nodes"}, 2),
             Catch::Contains("neither a job nor --save"));
  // A node that is silent for a while.
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
  const nlohmann::json report = report_of(nodes, "1");
  cluster::said(nodes, {"trace", "1", "-o", file});
  const Traced trace(file);
  trace.check_edges(edges_of(nodes, "1"));
  std::multimap<std::string, std::string> before;
  for (const Edge& arrow : trace.arrows) before.emplace(arrow.to, arrow.from);
  CHECK(trace.slices.size() == report["tasks"]);
  CHECK(before.size() > trace.slices.size());
  std::map<std::string, double> longest_to;
  const std::function<double(const std::string&)> longest = [&](const std::string& task) {
    if (const auto known = longest_to.find(task); known != longest_to.end()) return known->second;
    double most = 0;
    const auto [begin, end] = before.equal_range(task);
    for (auto edge = begin; edge != end; ++edge) most = std::max(most, longest(edge->second));
    return longest_to[task] = most + trace.slices.at(task).took;
  };
  double path = 0;
  for (const auto& [task, slice] : trace.slices) path = std::max(path, longest(task));
  CHECK(path > 0);
  CHECK(report["critical_path"]["seconds"].get<double>() * 1e6 == Approx(path).epsilon(0.001));
  CHECK(report["critical_path"]["seconds"] <= report["span_seconds"]);
  CHECK(report["delays"]["tasks"].get<int>() > 100);
}
