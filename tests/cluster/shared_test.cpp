// The shared form: dagd processes on loopback, jobs in worker processes that they start, clients that come
// and go.

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/cluster/gate.hpp"
#include "tests/cluster/nodes.hpp"
#include "tests/support/temporary_directory.hpp"

using cluster::at;
using cluster::bin;
using cluster::Nodes;
using cluster::Process;
using namespace std::string_literals;

namespace {

/// Ids of the worker processes of all nodes, by their nodes. No command is asked for them: the job goes on
/// meanwhile, and may be over before that has begun.
std::vector<pid_t> workers_of(Nodes& nodes) {
  std::vector<pid_t> found;
  for (std::size_t node = 0; node < nodes.count(); ++node) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t process = std::atoi(entry.path().filename().c_str());  // 0: it is none.
      if (process != 0 && cluster::node_of(process) == nodes.node(node).id()) found.push_back(process);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a job runs in the worker processes of three nodes, and they end with it") {
  Nodes nodes(3);
  nodes.gather();
  Process hello(at(nodes, {bin("hello")}));
  CHECK(hello.ends() == 0);
  INFO(hello.err());
  CHECK(hello.out() == "5\n");
  Process mixture(at(nodes, {bin("cluster_mixture"), "30", "100"}));
  Process alone({bin("cluster_mixture"), "30", "100"});
  CHECK(mixture.ends() == 0);
  CHECK(alone.ends() == 0);
  CHECK(cluster::result_in(mixture.out()) == cluster::result_in(alone.out()));
}

TEST_CASE("a worker process that is killed is replaced, and the result stays") {
  Nodes nodes(3);
  nodes.gather();
  Process alone({bin("cluster_mixture"), "60", "8000"});
  Process job(at(nodes, {bin("cluster_mixture"), "60", "8000"}));
  REQUIRE(job.says("quarter"));
  const auto workers = workers_of(nodes);
  REQUIRE(workers.size() == 3);
  kill(workers[1], SIGKILL);
  CHECK(job.ends() == 0);
  INFO(job.err());
  CHECK(alone.ends() == 0);
  CHECK(cluster::result_in(job.out()) == cluster::result_in(alone.out()));
}

TEST_CASE("a node that is killed takes its worker processes along, and the job goes on") {
  Nodes nodes(3);
  nodes.gather();
  Process alone({bin("cluster_mixture"), "60", "2000"});
  Process job(at(nodes, {bin("cluster_mixture"), "60", "2000"}));
  REQUIRE(job.says("quarter"));
  nodes.node(2).kill(SIGKILL);
  CHECK(job.ends() == 0);
  INFO(job.err());
  CHECK(alone.ends() == 0);
  CHECK(cluster::result_in(job.out()) == cluster::result_in(alone.out()));
}

TEST_CASE(
    "what may run only once does, though a node and a worker process are killed: an outside ledger says so") {
  dag::test::TemporaryDirectory directory;
  const std::string ledger = directory.path().string() + "/ledger";
  cluster::Gate gate;
  Nodes nodes(3, false, {}, {}, {"--lanes", "2"});
  nodes.gather();
  Process job(at(nodes, {bin("cluster_once"), ledger, "60", gate.path()}));
  REQUIRE(job.says("quarter"));
  kill(workers_of(nodes).at(1), SIGKILL);
  nodes.node(2).kill(SIGKILL);
  gate.open();
  CHECK(job.ends() == 0);
  INFO(job.err());
  INFO(job.out());
  std::smatch said;
  const std::string out = job.out();
  REQUIRE(std::regex_search(out, said, std::regex("finished (\\d+) unknown (\\d+) other (\\d+)")));
  const int finished = std::stoi(said[1]), unknown = std::stoi(said[2]);
  CHECK(finished + unknown == 60);
  CHECK(unknown <= 8);  // Per dead home one more than its lanes, and attempts that others had lent it.
  std::map<int, int> paid;
  std::ifstream file(ledger);
  for (int number = 0; file >> number;) ++paid[number];
  for (const auto& [number, times] : paid) {
    CAPTURE(number);
    CHECK(times == 1);
  }
  CHECK(static_cast<int>(paid.size()) >= finished);
  CHECK(static_cast<int>(paid.size()) <= finished + unknown);
}

TEST_CASE("the shared form gives the same result when every task is supervised") {
  Nodes nodes(2);
  nodes.gather();
  Process plain({bin("cluster_mixture"), "30", "100"});
  Process job(at(nodes, {bin("cluster_mixture"), "30", "100", "--dag-supervise-all=1"}));
  CHECK(job.ends() == 0);
  INFO(job.err());
  CHECK(plain.ends() == 0);
  CHECK(cluster::result_in(job.out()) == cluster::result_in(plain.out()));
}

TEST_CASE("a task that crashes its process twice succeeds the third time") {
  Nodes nodes(2);
  nodes.gather();
  Process job(at(nodes, {bin("survive_a_crash")}));
  CHECK(job.ends() == 0);
  INFO(job.err());
  CHECK(job.out() == "task survived 2 crashes, and says 36\n");
}

TEST_CASE("worker processes in every form: a crash costs one process, and the client goes on") {
  Process alone({bin("survive_a_crash")});
  CHECK(alone.ends() == 0);
  INFO(alone.err());
  CHECK(alone.out() == "task survived 2 crashes, and says 36\n");
  Process run({bin("dag"), "run", "-n", "2", bin("survive_a_crash")});
  CHECK(run.ends() == 0);
  INFO(run.err());
  CHECK(run.out() == "task survived 2 crashes, and says 36\n");
  Process by_flag({bin("cluster_mixture"), "--dag-isolate", "30", "100"});
  Process plain({bin("cluster_mixture"), "30", "100"});
  CHECK(by_flag.ends() == 0);
  CHECK(plain.ends() == 0);
  CHECK(cluster::result_in(by_flag.out()) == cluster::result_in(plain.out()));
}

TEST_CASE("dag run --isolate gives the processes of a run worker processes, and so does the job's own flag") {
  Process plain({bin("dag"), "run", "-n", "2", bin("cluster_where")});
  CHECK(plain.ends() == 0);
  CHECK_THAT(plain.out(), Catch::Contains("in a process of the run"));
  Process by_launcher({bin("dag"), "run", "-n", "2", "--isolate", bin("cluster_where"), "--", "argument"});
  Process by_job({bin("dag"), "run", "-n", "2", bin("cluster_where"), "--", "--dag-isolate", "argument"});
  for (Process* run : {&by_launcher, &by_job}) {
    CHECK(run->ends() == 0);
    INFO(run->err());
    CHECK_THAT(run->out(), Catch::Contains("in a worker process, argument"));
  }
}

TEST_CASE("kernels in worker processes give way to other threads, as far as their node was told") {
  const std::string here = std::to_string(getpriority(PRIO_PROCESS, 0));
  for (const std::string niceness : {"", "17"}) {
    Nodes nodes(1, false, {}, {},
                niceness.empty() ? std::vector<std::string>{} : std::vector{"--niceness"s, niceness});
    Process where(at(nodes, {bin("cluster_where")}));
    CHECK(where.ends() == 0);
    INFO(where.err());
    CHECK_THAT(where.out(), Catch::Contains("in a worker process") &&
                                Catch::Contains("niceness " + (niceness.empty() ? here : niceness) + "\n"));
  }
}

TEST_CASE("a job that says what no other process can read ends with that, wherever it is said") {
  Nodes nodes(2);
  nodes.gather();
  const std::string where = GENERATE("submitted", "spawned");
  Process job(at(nodes, {bin("cluster_unreadable"), where}));
  CHECK(job.ends() == 0);
  INFO(nodes.logs());
  CHECK_THAT(job.out(), Catch::Contains("frame_invalid") && Catch::Contains("Graph.names"));
}

TEST_CASE("other addresses than loopback are refused, with the reason") {
  Process node({bin("dagd"), "--listen", "0.0.0.0:0"});
  CHECK(node.ends() == 4);
  CHECK_THAT(node.err(),
             Catch::Contains("would let other machines in, unencrypted") && Catch::Contains("127.0.0.1"));
}

TEST_CASE("a client that nobody answers says where it looked") {
  Process job({bin("hello"), "--address", cluster::free_address()});
  CHECK(job.ends() != 0);
  CHECK_THAT(job.err(), Catch::Contains("no node of a cluster answers at 127.0.0.1:"));
}

TEST_CASE("a node whose port is taken names it") {
  Nodes nodes(1);
  Process second({bin("dagd"), "--id", "1", "--listen", nodes.address()});
  CHECK(second.ends() == 4);
  CHECK_THAT(second.err(), Catch::Contains("address_in_use") && Catch::Contains(nodes.address().substr(10)));
}

TEST_CASE("needs that nobody has are refused at submission, with each node's reason, in every form") {
  Nodes nodes(2);
  nodes.gather();
  const std::vector<std::vector<std::string>> forms{at(nodes, {bin("cluster_demanding")}),
                                                    {bin("cluster_demanding")},
                                                    {bin("dag"), "run", "-n", "2", bin("cluster_demanding")}};
  for (const std::vector<std::string>& words : forms) {
    Process job(words);
    CHECK(job.ends() == 4);
    CHECK_THAT(job.err(), Catch::Contains("needs_impossible") && Catch::Contains("'glutton'") &&
                              Catch::Contains("n0 never"));
  }
}

TEST_CASE("dag show names the task that failed, with its error, its tries, and what it took along") {
  Nodes nodes(2);
  nodes.gather();
  Process job(at(nodes, {bin("cluster_failing")}));
  CHECK(job.ends() == 1);
  Process text({bin("dag"), "show", "job1", "--address", nodes.address()});
  CHECK(text.ends() == 0);
  CHECK_THAT(text.out(), Catch::Contains("broken (0): failed, 2 tries") &&
                             Catch::Contains("the disk said no") && Catch::Contains("hint: buy another") &&
                             Catch::Contains("needs it (1): cancelled") &&
                             Catch::Contains("class     fine: 1 finished") &&
                             Catch::Contains("1 ended after their deadline"));
  Process json({bin("dag"), "show", "job1", "--json", "--address", nodes.address()});
  CHECK(json.ends() == 0);
  const auto details = nlohmann::json::parse(json.out())["details"];
  std::map<std::string, nlohmann::json> tasks;
  for (const auto& task : details["tasks"]) tasks[task["name"]] = task;
  REQUIRE(tasks.size() == 3);
  CHECK(tasks["broken"]["outcome"] == "failed");
  CHECK(tasks["broken"]["tries"] == 2);
  CHECK(tasks["broken"]["error"]["hint"] == "buy another");
  CHECK(tasks["needs it"]["outcome"] == "cancelled");
  CHECK(tasks["fine"]["late_seconds"] > 0);
  CHECK(details["late"] == 1);
  CHECK(details["tasks_beyond"] == 0);
}

TEST_CASE("training in worker processes gives the loss curve of one process, also when one is killed") {
  const std::vector<std::string> small{
      "--layers", "2", "--width", "64", "--heads",          "2",  "--context",          "32", "--batch", "4",
      "--stages", "2", "--steps", "30", "--evaluate-every", "10", "--checkpoint-every", "3",  "--json"};
  const auto train = [&](std::vector<std::string> words) {
    words.insert(words.end(), small.begin(), small.end());
    return words;
  };
  const auto curves = [](const std::string& json) {
    const std::size_t from = json.find("\"stopped_early\"");
    return from == std::string::npos ? "no curve in: " + json : json.substr(from);
  };
  Process alone(train({bin("train_gpt")}));
  REQUIRE(alone.ends() == 0);
  Nodes nodes(3);
  nodes.gather();
  SECTION("undisturbed") {
    Process job(train({bin("train_gpt"), "--address", nodes.address()}));
    CHECK(job.ends() == 0);
    INFO(job.err());
    CHECK(curves(job.out()) == curves(alone.out()));
  }
  for (std::size_t victim = 0; victim < 3; ++victim) {
    SECTION("process " + std::to_string(victim) + " is killed") {
      Process job(train({bin("train_gpt"), "--address", nodes.address()}));
      REQUIRE(job.says("step   8/30"));
      const auto workers = workers_of(nodes);
      REQUIRE(workers.size() == 3);
      kill(workers[victim], SIGKILL);
      CHECK(job.ends() == 0);
      INFO(job.err());
      CHECK(curves(job.out()) == curves(alone.out()));
    }
  }
}

TEST_CASE("a job goes on when its client is killed, and its processes end with it") {
  Nodes nodes(2);
  nodes.gather();
  Process job(at(nodes, {bin("cluster_mixture"), "60", "2000"}));
  REQUIRE(job.says("quarter"));
  job.kill(SIGKILL);
  Process wait({bin("dag"), "wait", "job1", "--address", nodes.address()});
  CHECK(wait.ends() == 0);
  INFO(wait.err());
  CHECK_THAT(wait.out() + wait.err(), Catch::Contains("finished"));
}

TEST_CASE("the node with a job's record is killed: its client is told, and does not wait for ever") {
  Nodes nodes(2);
  nodes.gather();
  Process job(at(nodes, {bin("cluster_mixture"), "60", "2000"}));
  REQUIRE(job.says("quarter"));
  nodes.node(0).kill(SIGKILL);
  CHECK(job.ends() == 8);
  CHECK_THAT(job.err(), Catch::Contains("cluster_lost"));
}
