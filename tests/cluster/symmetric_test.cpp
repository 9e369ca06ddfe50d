// `dag run -n N JOB`: real processes and sockets, processes that die, ports that are taken, peers that do not
// belong.

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/cluster/processes.hpp"
#include "tests/support/temporary_directory.hpp"

using cluster::bin;
using cluster::place;
using cluster::Process;
using cluster::result_in;

namespace {

std::vector<std::string> dag_run(int count, const std::string& job, std::vector<std::string> arguments = {}) {
  std::vector<std::string> words{bin("dag"), "run", "-n", std::to_string(count), bin(job), "--"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string embedded_result(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{bin("cluster_mixture")};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Process alone(words);
  CHECK(alone.ends() == 0);
  return result_in(alone.out());
}

/// The child of a process that has this variable.
pid_t child_with(pid_t parent, const std::string& variable) {
  const std::string id = std::to_string(parent);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (pid_t child = 0; children >> child;) {
    std::ifstream environment("/proc/" + std::to_string(child) + "/environ", std::ios::binary);
    for (std::string one; std::getline(environment, one, '\0');) {
      if (one == variable) return child;
    }
  }
  throw std::runtime_error("no child of " + id + " has " + variable);
}

}  // namespace

TEST_CASE("hello runs as one, two and three processes") {
  const int count = GENERATE(1, 2, 3);
  Process run(dag_run(count, "hello"));
  CHECK(run.ends() == 0);
  CHECK(run.out() == "5\n");
  CHECK(run.err() == "");
}

TEST_CASE("a kernel that makes a Session fails, in every form") {
  const std::vector<std::string> words = GENERATE(
      std::vector<std::string>{bin("cluster_nested")},
      std::vector<std::string>{bin("cluster_nested"), "--dag-isolate"}, dag_run(2, "cluster_nested"));
  Process run(words);
  CHECK(run.ends() == 0);
  CHECK_THAT(run.out(),
             Catch::Contains("a kernel makes a dag::Session") && Catch::Contains("make the Session in main"));
}

TEST_CASE("a graph with actors and spawned tasks gives the same result in three processes as in one") {
  Process run(dag_run(3, "cluster_mixture"));
  CHECK(run.ends() == 0);
  INFO(run.err());
  CHECK(result_in(run.out()) == embedded_result({}));
}

TEST_CASE("what waits behind a task of another job goes to a process that has nothing to do") {
  const dag::test::TemporaryDirectory directory;
  Process run(dag_run(2, "cluster_two", {directory.path().string()}));
  const auto ended = run.ends();
  INFO(run.err());
  CHECK(ended == 0);
  CHECK(run.out() == "beside: 780\nblocked: 1\n");
}

TEST_CASE("a process that is killed in the middle changes nothing") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "90", "3000"};
  Process zero(job, place(0, 3, first)), one(job, place(1, 3, first)), two(job, place(2, 3, first));
  REQUIRE(zero.says("quarter"));
  two.kill(SIGKILL);
  CHECK(zero.ends() == 0);
  INFO(zero.err());
  CHECK(result_in(zero.out()) == embedded_result({"90", "3000"}));
  CHECK(one.ends() == 0);
}

TEST_CASE("processes of one host share rings, until one dies") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "90", "3000", "--dag-log", "info"};
  Process zero(job, place(0, 3, first)), one(job, place(1, 3, first)), two(job, place(2, 3, first));
  CHECK(zero.says("edges to n1.1 go by a ring"));
  CHECK(zero.says("edges to n2.1 go by a ring"));
  CHECK(one.says("edges to n2.1 go by a ring"));
  REQUIRE(zero.says("quarter"));
  two.kill(SIGKILL);
  CHECK(zero.says("the ring with n2.1 is gone"));
  CHECK(zero.ends() == 0);
  INFO(zero.err());
  CHECK(result_in(zero.out()) == embedded_result({"90", "3000"}));
  CHECK(one.ends() == 0);
}

TEST_CASE("a run that is told to share no memory gives the same result without") {
  Process run(
      {bin("dag"), "run", "-n", "3", "--no-rings", bin("cluster_mixture"), "--", "--dag-log", "debug"});
  CHECK(run.ends() == 0);
  INFO(run.err());
  CHECK(run.err().find("by a ring") == std::string::npos);
  CHECK(result_in(run.out()) == embedded_result({}));
}

TEST_CASE("of two processes one shares no rings: they go on through sockets") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "--dag-log", "debug"};
  std::vector<std::string> alone = job;
  alone.emplace_back("--dag-no-rings");
  Process zero(job, place(0, 2, first)), one(alone, place(1, 2, first));
  CHECK(zero.says("no ring with n1.1, as it says: it shares no rings"));
  CHECK(zero.ends() == 0);
  INFO(zero.err());
  CHECK(result_in(zero.out()) == embedded_result({}));
  CHECK(one.ends() == 0);
}

TEST_CASE("a process that ends before all are there ends the run at once, and is named") {
  const auto [how, status, said] = GENERATE(table<std::string, int, std::string>({
      {"kill", 137, "process 1 of the job was ended by signal 9 (Killed) before all 3 had found each other"},
      {"exit", 9, "process 1 of the job ended with status 9 before all 3 had found each other"},
      {"wait", 137, "process 1 of the job was ended by signal 9 (Killed) before all 3 had found each other"},
  }));
  std::vector<std::string> arguments{how};
  const bool isolated = GENERATE(false, true);
  if (isolated) arguments.push_back("--dag-isolate");
  const auto before = cluster::Clock::now();
  Process run(dag_run(3, "cluster_early", arguments));
  if (how == "wait") {
    const std::string line = "process 1 is ";
    REQUIRE(run.says(line));
    REQUIRE(run.says("\n"));
    kill(std::stoi(run.out().substr(run.out().find(line) + line.size())), SIGKILL);
  }
  CHECK(run.ends() == status);  // And so have all that inherited its output.
  CHECK_THAT(run.err(), Catch::Contains(said));
  // Not the 30 s that the others would wait for it.
  CHECK(cluster::Clock::now() - before < std::chrono::seconds(20));
}

TEST_CASE("a process that dies later is named, and the others go on") {
  Process run(dag_run(3, "cluster_mixture", {"90", "3000"}));
  REQUIRE(run.says("quarter"));
  kill(child_with(run.id(), "DAG_RANK=1"), SIGKILL);
  CHECK(run.ends() == 0);
  CHECK_THAT(run.err(), Catch::Contains("process 1 of the job was ended by signal 9 (Killed); 2 continue"));
  CHECK(result_in(run.out()) == embedded_result({"90", "3000"}));
}

TEST_CASE("a task that takes processes down is given up before all are down, and nobody else is charged") {
  const auto [how, cause, downs_max] = GENERATE(table<std::string, std::string, int>({
      {"segv", "signal 11 (Segmentation fault)", 2},
      {"exit", "exit() was called", 2},
      {"kill", "killed, or it left without a word", 4},
  }));
  // The task waits for lanes with many others; process 0 may take it, and ends it in peace.
  for (int again = 0;; ++again) {
    REQUIRE(again < 10);
    Process run(dag_run(6, "cluster_poison", {how}));
    const auto status = run.ends();
    INFO(run.err());
    CHECK(status == 0);
    CHECK_THAT(run.out(), Catch::StartsWith("200 harmless tasks\n"));
    if (run.out().find("deadly ran in process 0") != std::string::npos) continue;
    CHECK_THAT(run.out(),
               Catch::Contains("process_crashed") && Catch::Contains("'deadly'") && Catch::Contains(cause));
    int downs = 0;
    for (int process = 1; process < 6; ++process)
      downs +=
          run.err().find("process " + std::to_string(process) + " of the job ") != std::string::npos ? 1 : 0;
    CHECK(downs >= 2);
    CHECK(downs <= downs_max);
    break;
  }
}

TEST_CASE("without process 0 the others end and say so") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "400", "10000"};
  Process zero(job, place(0, 3, first)), one(job, place(1, 3, first)), two(job, place(2, 3, first));
  REQUIRE(zero.says("quarter"));
  zero.kill(SIGKILL);
  for (Process* other : {&one, &two}) {
    CHECK(other->ends() == 8);
    CHECK_THAT(other->err(), Catch::Contains("cluster_lost"));
  }
}

TEST_CASE("processes of two binaries are not one run: both builds are named") {
  const std::string first = cluster::free_address();
  Process zero({bin("hello")}, place(0, 2, first)), one({bin("cluster_mixture")}, place(1, 2, first));
  CHECK(one.ends() == 4);
  CHECK_THAT(one.err(), Catch::Contains("binary_mismatch") && Catch::Contains("n1.1 runs build ") &&
                            Catch::Contains("n0.1 runs build "));
  CHECK(zero.ends() != 0);
  CHECK_THAT(zero.err(), Catch::Contains("binary_mismatch"));
}

TEST_CASE("a run whose port is taken names it") {
  const std::string first = cluster::free_address();
  const std::vector<std::string> job{bin("cluster_mixture"), "400", "10000"};
  Process zero(job, place(0, 2, first)), one(job, place(1, 2, first));
  REQUIRE(zero.says("quarter"));
  Process late({bin("hello")}, place(0, 2, first));
  CHECK(late.ends() != 0);
  CHECK_THAT(late.err(),
             Catch::Contains("address_in_use") && Catch::Contains(first.substr(first.find(':') + 1)));
}

TEST_CASE("what reads a large value runs where it was made, although its home is another process") {
  // As between two hosts. On one it can be read in place, so its reader may stay where it is.
  Process run(dag_run(2, "cluster_heavy", {"64", "--dag-no-rings"}));
  CHECK(run.ends() == 0);
  INFO(run.err());
  const std::string out = run.out();
  const bool where_it_lies =
      out.starts_with("made at n0, read at n0\n") || out.starts_with("made at n1, read at n1\n");
  INFO(out);
  CHECK(where_it_lies);
  Process in_place(dag_run(2, "cluster_heavy", {"64"}));
  CHECK(in_place.ends() == 0);
  CHECK(result_in(in_place.out()) == result_in(out));
  Process alone({bin("cluster_heavy"), "64"});
  CHECK(alone.ends() == 0);
  CHECK(result_in(out) == result_in(alone.out()));
}

TEST_CASE("large values are read where they lie, or come by a stream, also after the job has ended") {
  Process alone({bin("cluster_bulky"), "64"});
  CHECK(alone.ends() == 0);
  const std::string flag = GENERATE("", "--dag-no-rings");
  std::vector<std::string> arguments{"64"};
  if (!flag.empty()) arguments.push_back(flag);
  Process run(dag_run(3, "cluster_bulky", arguments));
  CHECK(run.ends() == 0);
  INFO(run.err());
  CHECK(result_in(run.out()) == result_in(alone.out()));
}

TEST_CASE("an address that is none is named, with what it should be") {
  const auto refused = [](const std::string& peers, const std::string& why) {
    Process zero({bin("hello")}, {{"DAG_RANK", "0"}, {"DAG_SIZE", "2"}, {"DAG_PEERS", peers}});
    CHECK(zero.ends() != 0);
    CHECK_THAT(zero.err(), Catch::Contains("configuration_invalid") && Catch::Contains(why));
  };
  refused("", "DAG_PEERS is '', but must be the address of process 0, HOST:PORT");
  refused("127.0.0.1:99999", "DAG_PEERS is '127.0.0.1:99999'");
  refused("192.0.2.1:7000", "listening at 192.0.2.1:7000 would let other machines in");
}

TEST_CASE("processes that do not find each other say whom they waited for") {
  const std::string nobody = cluster::free_address(), lonely = cluster::free_address();
  Process zero({bin("hello")}, place(0, 3, lonely)), one({bin("hello")}, place(1, 2, nobody));
  CHECK(one.ends() == 3);
  CHECK_THAT(one.err(), Catch::Contains("peer_unreachable") &&
                            Catch::Contains("process 0 did not answer at " + nobody + " within 30 s"));
  CHECK(zero.ends() != 0);
  CHECK_THAT(zero.err(), Catch::Contains("1 of 3 processes are here after 30 s; missing: process 1, 2"));
}

// ---- The kernel refuses

TEST_CASE("where the kernel refuses barriers, processes say so at the start and get the same result") {
  const int forms = GENERATE(1, 2);
  std::vector<std::string> words{bin("cluster_forbids")};
  if (forms == 2) words.insert(words.end(), {bin("dag"), "run", "-n", "2"});
  words.push_back(bin("hello"));
  Process run(words);
  const auto status = run.ends();
  if (status == 77) {
    WARN("skipped: seccomp is not allowed here");
    return;
  }
  INFO(run.err());
  CHECK(status == 0);
  CHECK(run.out() == "5\n");
  CHECK_THAT(run.err(), Catch::Contains("the kernel refuses membarrier(2)"));
}

// ---- Memory

TEST_CASE("a job that the memory limit has no room for is refused, and says which limit") {
  const std::string shape = GENERATE("chain", "family");
  std::vector<std::string> words{bin("cluster_many"), "1000000", "1", "48"};
  if (shape == "family") words.push_back(shape);
  Process run(words);
  CHECK(run.ends() == 1);
  CHECK_THAT(run.err(), Catch::Contains("memory_exhausted (505): the job needs at least") &&
                            Catch::Contains("ulimit -v") && Catch::Contains("hint:"));
  CHECK(run.out() == "7\n");  // A job that there is room for runs after that.
}

TEST_CASE("a graph for which memory was too small runs when there is more") {
#ifdef __SANITIZE_ADDRESS__
  WARN("skipped: sanitizers end a process that gets no memory");
#else
  Process run({bin("cluster_narrow"), "200000", "4"});
  INFO(run.err());
  CHECK(run.ends() == 0);
  CHECK_THAT(run.out(), Catch::StartsWith("refused ") && Catch::EndsWith("times, then 200000\n"));
  CHECK_FALSE(run.out() == "refused 0 times, then 200000\n");
#endif
}

TEST_CASE("jobs that fit into memory one after the other wait for each other") {
#ifdef __SANITIZE_ADDRESS__
  WARN("skipped: sanitizers keep what is freed");
#else
  Process run({bin("cluster_many"), "200000", "12", "700"});
  CHECK(run.ends() == 0);
  INFO(run.err());
  std::string all;
  for (int i = 0; i < 12; ++i) all += "200000\n";
  CHECK(run.out() == all);
#endif
}
