// The commands of `dag` against real nodes: what they print, what they end with, what they leave behind.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cluster/gate.hpp"
#include "tests/cluster/running.hpp"
#include "tests/support/file_text.hpp"
#include "tests/support/temporary_directory.hpp"

using cluster::bin;
using cluster::Process;

namespace {

/// A state directory of the test's own, so that nobody's cluster is touched; what is up in it ends with it.
class State {
 public:
  State() = default;
  ~State() { run({"down"}); }

  struct Ended {
    std::optional<int> status;
    std::string out, err;
  };
  Ended run(std::vector<std::string> words) const {
    words.insert(words.begin(), bin("dag"));
    Process process(words, {{"DAG_STATE_DIR", path()}, {"DAG_ADDRESS", ""}});
    const std::optional<int> status = process.ends();
    return {status, process.out(), process.err()};
  }
  std::string path() const { return directory_.path().string(); }
  std::string file() const { return path() + "/cluster.json"; }
  /// Processes of the nodes in the address file, in its order.
  std::vector<pid_t> pids() const {
    std::ifstream in(file());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::vector<pid_t> found;
    const std::regex pid("\"pid\":([0-9]+)");
    for (std::sregex_iterator one(text.begin(), text.end(), pid), end; one != end; ++one) {
      found.push_back(std::stoi((*one)[1]));
    }
    return found;
  }

 private:
  dag::test::TemporaryDirectory directory_;
};

/// Bytes, as the kernel counts them.
std::uint64_t memory_of_machine() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Gone, or a zombie that nobody has waited for yet.
bool has_ended(pid_t pid) {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", none).empty();
}

}  // namespace

TEST_CASE("nodes of one machine share its memory, so none of it is counted twice") {
  const State state;
  REQUIRE(state.run({"up", "--nodes", "3"}).status == 0);
  const auto listed = state.run({"node", "list", "--json"});
  REQUIRE(listed.status == 0);
  std::uint64_t all = 0;
  const auto said = nlohmann::json::parse(listed.out);
  for (const auto& node : said.at("nodes")) {
    for (const auto& device : node.at("devices")) {
      all += device.at("memory_bytes").get<std::uint64_t>();
      CHECK(device.at("memory_free_bytes") <= device.at("memory_bytes"));
    }
  }
  CHECK(said.at("nodes").size() == 3);
  CHECK(all > memory_of_machine() / 100);
  CHECK(all <= memory_of_machine());
}

TEST_CASE("a cluster is brought up, grows, is asked and taken down") {
  const State state;
  const auto up = state.run({"up", "--nodes", "2"});
  INFO(up.err);
  REQUIRE(up.status == 0);
  REQUIRE(std::regex_match(up.out, std::regex("export DAG_ADDRESS=127\\.0\\.0\\.1:[0-9]+\n")));
  const std::string address = first_line(up.out).substr(up.out.find('=') + 1);
  CHECK_THAT(up.err, Catch::Contains("dag join " + address));

  const auto again = state.run({"up"});
  CHECK(again.status == 2);
  CHECK_THAT(again.err, Catch::Contains("a cluster is already up at " + address));

  const auto join = state.run({"join", address});
  INFO(join.err);
  CHECK(join.status == 0);
  CHECK_THAT(join.out, Catch::StartsWith("n2 at 127.0.0.1:"));

  const auto list = state.run({"node", "list", "--verbose"});
  CHECK(list.status == 0);
  for (const char* node : {"\nn0 ", "\nn1 ", "\nn2 "}) CHECK_THAT(list.out, Catch::Contains(node));
  CHECK_THAT(list.err, Catch::Contains("at " + address + ", by " + state.file()));
  CHECK_THAT(state.run({"node", "show", "2"}).out, Catch::StartsWith("n2 (alive)"));
  CHECK(state.run({"node", "show", "9"}).status == 5);

  const std::vector<pid_t> pids = state.pids();
  REQUIRE(pids.size() == 3);
  // Among sessions the kernel would divide the cores (tools/dag/cluster/process.cpp).
  CHECK(getsid(pids[0]) == getsid(pids[1]));
  CHECK(getsid(pids[0]) != getsid(0));
  const auto down = state.run({"down"});
  CHECK(down.status == 0);
  CHECK_THAT(down.err, Catch::Contains("3 nodes have ended"));
  for (const pid_t pid : pids) CHECK(has_ended(pid));
  CHECK_FALSE(std::filesystem::exists(state.file()));
  const auto nothing = state.run({"down"});
  CHECK(nothing.status == 0);
  CHECK_THAT(nothing.err, Catch::Contains("no cluster is up"));
}

TEST_CASE("jobs are submitted to any node, and asked about at every node") {
  const State state;
  REQUIRE(state.run({"up", "--nodes", "2"}).status == 0);
  const auto first = state.run({"submit", bin("hello")});
  INFO(first.err);
  CHECK(first.status == 0);
  CHECK(first.out == "job1\n");
  const auto watched = state.run({"submit", "--watch", bin("hello")});
  CHECK(watched.status == 0);
  CHECK(watched.out == "5\n");

  const auto show = state.run({"node", "show", "n1"});
  std::smatch address;
  REQUIRE(std::regex_search(show.out, address, std::regex("address +(\\S+),")));
  const auto there = state.run({"submit", "--json", "--address", address[1], bin("hello")});
  CHECK(there.out == "{\"job\":\"job1.1\"}\n");

  // Both are asked of node 0: the second job's id says that node 1 has it.
  CHECK_THAT(state.run({"wait", "1"}).out, Catch::StartsWith("job1 hello: finished"));
  const auto other = state.run({"wait", "job1.1", "--timeout", "60"});
  CHECK(other.status == 0);
  CHECK_THAT(other.out, Catch::StartsWith("job1.1 hello: finished"));
  const auto list = state.run({"ls"});
  CHECK(list.status == 0);
  for (const char* job : {"\njob1 ", "\njob2 ", "\njob1.1 "}) CHECK_THAT(list.out, Catch::Contains(job));
  CHECK_THAT(state.run({"show", "1.1", "--json"}).out, Catch::Contains("\"phase\":\"finished\""));

  CHECK(state.run({"show", "job9"}).status == 5);
  CHECK(state.run({"show", "job7.1"}).status == 5);
  const auto unknown = state.run({"show", "train"});
  CHECK(unknown.status == 5);
  CHECK_THAT(unknown.err, Catch::Contains("there is no job 'train'") && Catch::Contains("`dag ls`"));
  const auto misspelt = state.run({"show", "helo"});
  CHECK(misspelt.status == 5);
  CHECK_THAT(misspelt.err, Catch::Contains("did you mean 'hello'?"));
  const auto several = state.run({"show", "hello"});
  CHECK(several.status == 2);
  CHECK_THAT(several.err, Catch::Contains("jobs have the name 'hello'") && Catch::Contains("job1.1"));
}

TEST_CASE("a job that runs on is waited for, not for ever, and cancelled") {
  const cluster::Gate gate;
  const State state;
  REQUIRE(state.run({"up"}).status == 0);
  CHECK(state.run({"submit", bin("cluster_gate"), "--", gate.path()}).out == "job1\n");
  CHECK(state.run({"wait", "1", "--timeout", "0.05"}).status == 7);
  CHECK(state.run({"cancel", "1"}).status == 0);
  const auto wait = state.run({"wait", "1"});
  CHECK(wait.status == 1);
  CHECK_THAT(wait.out, Catch::Contains("cancelled"));
}

TEST_CASE("a node that is gone is not asked, and whoever waits for its job learns it") {
  const cluster::Gate gate;
  const State state;
  REQUIRE(state.run({"up"}).status == 0);
  CHECK(state.run({"submit", bin("cluster_gate"), "--", gate.path()}).status == 0);
  Process wait({bin("dag"), "wait", "1", "--verbose", "--state-dir", state.path()}, {{"DAG_ADDRESS", ""}});
  REQUIRE(wait.says("waiting for job1"));
  kill(state.pids().at(0), SIGKILL);
  CHECK(wait.ends() == 8);
  CHECK_THAT(wait.err(), Catch::Contains("cluster_lost"));
  CHECK(state.run({"ls"}).status == 3);  // The address file names no running node.
}

TEST_CASE("a graph is looked at without a cluster") {
  const State state;
  const auto dry = state.run({"submit", "--dry-run", bin("hello")});
  CHECK(dry.status == 0);
  CHECK(dry.out == "hello: 2 tasks, 1 edge; longest path (2 tasks): hi > len\n");
  const auto none = state.run({"submit", bin("hello")});
  CHECK(none.status == 3);
  CHECK_THAT(none.err, Catch::Contains("dag up"));
}

TEST_CASE("a dry run checks what a submission checks, and asks the cluster") {
  const State state;
  REQUIRE(state.run({"up"}).status == 0);
  const auto dry = state.run({"submit", "--dry-run", bin("cluster_demanding")});
  CHECK(dry.status == 4);
  CHECK_THAT(dry.err, Catch::Contains("needs_impossible") && Catch::Contains("glutton"));
  CHECK(state.run({"submit", bin("cluster_demanding")}).status == 4);
  const auto possible = state.run({"submit", "--dry-run", bin("hello")});
  CHECK(possible.status == 0);
  CHECK_THAT(possible.out, Catch::Contains("hello: 2 tasks"));
  CHECK_THAT(state.run({"ls"}).out, !Catch::Contains("hello"));
}

TEST_CASE("a node that does not end is killed, and a process that is no node is left alone") {
  const State state;
  REQUIRE(state.run({"up", "--nodes", "2"}).status == 0);
  const std::vector<pid_t> pids = state.pids();
  REQUIRE(pids.size() == 2);
  kill(pids[1], SIGSTOP);
  const auto down = state.run({"down", "--json"});
  CHECK(down.status == 0);
  CHECK_THAT(down.err, Catch::Contains("n1 did not end within 5 s: killed"));
  for (const pid_t pid : pids) CHECK(has_ended(pid));

  Process bystander({"sleep", "600"});
  std::ofstream(state.file()) << "{\"nodes\":[{\"id\":0,\"address\":\"127.0.0.1:1\",\"pid\":"
                              << bystander.id() << "}]}\n";
  CHECK_THAT(state.run({"down"}).err, Catch::Contains("no cluster is up"));
  CHECK_FALSE(has_ended(bystander.id()));
}

TEST_CASE("the settings of a node are shown with who said so, and wrong ones as dagd says it") {
  dag::test::TemporaryDirectory folder;
  const std::string file = folder.path().string() + "/node.toml";
  std::ofstream(file) << "[node]\nlanes = 3\n";
  const std::map<std::string, std::string> environment{{"DAG_CONFIG", file}, {"DAG_LOG", "info"}};
  Process shown({bin("dag"), "config", "show", "--origin"}, environment);
  REQUIRE(shown.ends() == 0);
  CHECK_THAT(shown.out(), Catch::Contains("\nlanes = 3 ") && Catch::Contains("# " + file + ":2\n") &&
                              Catch::Contains("\nlog = \"info\" ") && Catch::Contains("# DAG_LOG\n"));
  std::ofstream(file) << "[node]\nlains = 3\n";
  Process refused({bin("dag"), "config", "show"}, environment);
  CHECK(refused.ends() == 4);
  CHECK_THAT(refused.err(), Catch::Contains(file + ":2:1") && Catch::Contains("did you mean 'lanes'?"));
}

TEST_CASE("the doctor looks at a disk and at the nodes, and says what is wrong with either") {
  const State state;
  dag::test::TemporaryDirectory data;
  REQUIRE(state.run({"up", "--nodes", "2"}).status == 0);
  const auto two = state.run({"doctor", "--data", data.path().string()});
  CHECK(two.status == 0);
  CHECK_THAT(two.out, Catch::Contains("  disk: " + data.path().string() + ": ") &&
                          Catch::Contains("doubtful  cluster: 2 nodes, 2 that run jobs"));
  REQUIRE(state.run({"down"}).status == 0);
  REQUIRE(state.run({"up", "--nodes", "3"}).status == 0);
  CHECK_THAT(state.run({"doctor"}).out, Catch::Contains("ok        cluster: 3 nodes"));
  REQUIRE(state.run({"down"}).status == 0);
  const auto none = state.run({"doctor", "--address", "127.0.0.1:1", "--json"});
  CHECK(none.status == 1);
  const auto findings = nlohmann::json::parse(none.out).at("findings");
  CHECK(findings.back().at("about") == "cluster");
  CHECK(findings.back().at("health") == "bad");
  CHECK_FALSE(findings.back().at("hint").get<std::string>().empty());
}

TEST_CASE("what happened to a job is told by the journals of its nodes when they are gone") {
  const State state;
  dag::test::TemporaryDirectory data;
  const std::string directory = data.path().string();
  REQUIRE(state.run({"up", "--nodes", "3", "--data", directory}).status == 0);
  CHECK(state.run({"submit", "--watch", bin("cluster_failing")}).status != 0);
  REQUIRE(state.run({"down"}).status == 0);
  const auto all = state.run({"view", directory, "--job", "1"});
  CHECK(all.status == 0);
  CHECK(all.err.empty());
  CHECK_THAT(all.out, Catch::Contains("submitted: ") && Catch::Contains("  member n0/w1.") &&
                          Catch::Contains("settled: failed"));
  const auto failed = state.run({"view", directory, "--failed", "--json"});
  CHECK(failed.status == 0);
  CHECK_THAT(failed.out, Catch::Contains("\"kind\":\"settled\"") && Catch::Contains("\"job\":\"job1\"") &&
                             !Catch::Contains("member"));
  // Events of lanes of worker processes came by way of their nodes.
  CHECK_THAT(all.out, Catch::Contains("/w1/l0  job1") && Catch::Contains("  failed in "));
  const std::string file = directory + "/trace.json";
  const auto trace = state.run({"trace", "1", "--from", directory, "-o", file});
  INFO(trace.err);
  CHECK(trace.status == 0);
  const auto events = nlohmann::json::parse(dag::test::text_of(file)).at("traceEvents");
  const auto failed_run = std::find_if(events.begin(), events.end(), [](const auto& event) {
    return event.at("ph") == "X" && event.at("args").at("outcome") == "failed";
  });
  REQUIRE(failed_run != events.end());
  CHECK(failed_run->at("args").contains("error"));
  CHECK(state.run({"trace", "9", "--from", directory}).status == 5);
  CHECK(state.run({"view", directory, "--job", "9"}).status == 5);
  CHECK(state.run({"view", directory + "/none"}).status == 2);
}

TEST_CASE(
    "all nodes are killed at once and `dag up` is said again: every job that was acknowledged goes on") {
  const State state;
  dag::test::TemporaryDirectory data, ledgers;
  cluster::Gate gate;  // Until it is open no job ends, and what has ended may be forgotten.
  const std::vector<std::string> up{"up", "--nodes", "3", "--data", data.path().string()};
  constexpr int jobs = 3, tasks = 60;
  const auto ledger = [&](int job) { return (ledgers.path() / std::to_string(job)).string(); };
  REQUIRE(state.run(up).status == 0);
  for (int job = 1; job <= jobs; ++job) {
    // The last one is killed as soon as its number is there; of the first, tasks have ended.
    if (job == jobs)
      REQUIRE(cluster::comes_true([&] {
        REQUIRE(state.run({"ls"}).status == 0);
        return cluster::entered_in(ledger(1)).size() >= tasks / 4;
      }));
    const auto submitted =
        state.run({"submit", bin("cluster_ledger"), "--", ledger(job), std::to_string(tasks), gate.path()});
    INFO(submitted.err);
    REQUIRE(submitted.out == "job" + std::to_string(job) + "\n");
  }
  const std::vector<pid_t> pids = state.pids();
  REQUIRE(pids.size() == 3);
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  REQUIRE(cluster::comes_true([&] { return std::all_of(pids.begin(), pids.end(), has_ended); }));

  const auto again = state.run(up);
  INFO(again.err);
  REQUIRE(again.status == 0);
  gate.open();
  for (int job = 1; job <= jobs; ++job) {
    CAPTURE(job);
    // For a moment after a start nobody leads it.
    REQUIRE(cluster::comes_true([&] { return state.run({"show", std::to_string(job)}).status != 5; }));
    const auto waited = state.run({"wait", std::to_string(job)});
    INFO(waited.err);
    CHECK(waited.status == 0);
    CHECK_THAT(waited.out, Catch::Contains("finished"));
    CHECK(cluster::entered_in(ledger(job)).size() == tasks);
    CHECK(cluster::entered_in(ledger(job) + ".sum") == std::set<int>{tasks * (tasks - 1) / 2});
  }
}
