// Ctrl-C, at several moments of `dag run`: whatever was started ends, and the status says so.

#include <catch2/catch.hpp>

#include "tests/cluster/processes.hpp"
#include "tests/support/temporary_directory.hpp"

using cluster::bin;
using cluster::Process;

namespace {

/// Files that programs of libdag left in shared memory.
std::size_t left_in_memory() {
  std::size_t count = 0;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm", none)) {
    count += file.path().filename().string().find("dag") != std::string::npos ? 1 : 0;
  }
  return count;
}

Process mixture(int count) {
  return Process(
      {bin("dag"), "run", "-n", std::to_string(count), bin("cluster_mixture"), "--", "400", "10000"});
}

}  // namespace

// ends() returns when all processes with the launcher's output have closed it, so none is left then.

TEST_CASE("Ctrl-C before anything runs ends dag run") {
  const std::size_t before = left_in_memory();
  Process run = mixture(3);
  run.kill(SIGINT);
  CHECK(run.ends() == 130);
  CHECK(run.out() == "");
  CHECK(left_in_memory() == before);
}

TEST_CASE("Ctrl-C in the middle leaves no process") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  const std::size_t before = left_in_memory();
  Process run = mixture(3);
  REQUIRE(run.says("quarter"));
  run.kill(signal);
  CHECK(run.ends() == 130);
  CHECK_THAT(run.err(), Catch::Contains("interrupted; stopping 3 processes") && !Catch::Contains("killed"));
  CHECK(run.out().find("result") == std::string::npos);
  CHECK(left_in_memory() == before);
}

TEST_CASE("Ctrl-C after the result leaves no process") {
  Process run({bin("dag"), "run", "-n", "3", "/bin/sh", "--", "-c",
               "[ $DAG_RANK != 0 ] || echo result; exec tail -f /dev/null"});
  REQUIRE(run.says("result"));
  run.kill(SIGINT);
  CHECK(run.ends() == 130);
}

TEST_CASE("Ctrl-C while a cluster is brought up leaves no node") {
  const dag::test::TemporaryDirectory state;
  Process up({bin("dag"), "up", "--verbose", "--nodes", "8", "--state-dir", state.path().string()});
  REQUIRE(up.read_until([&] { return up.err().find("n0 at ") < up.err().rfind('\n'); }));
  const std::size_t at = up.err().find("n0 at ") + 6;
  const std::string address = up.err().substr(at, up.err().find('\n', at) - at);
  up.kill(SIGINT);
  CHECK(up.ends() == 130);
  Process asks({bin("dag"), "ls", "--address", address});
  CHECK(asks.ends() == 3);
}

TEST_CASE("what a process of the job started ends with it") {
  // The shell waits for its child, which has inherited our pipes.
  Process run({bin("dag"), "run", "-n", "2", "/bin/sh", "--", "-c", "tail -f /dev/null & echo up; wait"});
  REQUIRE(run.says("up"));
  run.kill(SIGINT);
  CHECK(run.ends() == 130);
}

TEST_CASE("a second Ctrl-C does not wait for those that ignore the first") {
  Process run({bin("dag"), "run", "-n", "2", "/bin/sh", "--", "-c",
               "trap '' TERM INT; echo up $DAG_RANK; exec tail -f /dev/null"});
  REQUIRE(run.says("up 0"));
  REQUIRE(run.says("up 1"));
  run.kill(SIGINT);
  REQUIRE(run.says("stopping 2 processes"));
  run.kill(SIGINT);
  CHECK(run.ends() == 130);
  CHECK_THAT(run.err(), Catch::Contains("killed the processes that had not ended yet"));
}

TEST_CASE("each process of a run has one BLAS thread, unless the user says otherwise") {
  const std::vector<std::string> words{
      bin("dag"), "run", "-n", "1", "/bin/sh", "--", "-c", "echo $OPENBLAS_NUM_THREADS $OMP_NUM_THREADS"};
  Process run(words);
  CHECK(run.ends() == 2);  // A shell submits nothing.
  CHECK(run.out() == "1 1\n");
  Process chosen(words, {{"OPENBLAS_NUM_THREADS", "3"}});
  CHECK(chosen.ends() == 2);
  CHECK(chosen.out() == "3 1\n");
}
