// Starting what is measured: what it prints, how it ends, and that it does not outlive its time.

#include "tools/bench/child.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

#include "tests/support/patience.hpp"
#include "tests/support/temporary_directory.hpp"

using dag::bench::Afterwards;
using dag::bench::Ended;
using dag::bench::run_child;

namespace {
const auto patience = std::chrono::ceil<std::chrono::seconds>(dag::test::patient(std::chrono::minutes(1)));
}

TEST_CASE("a child's output, messages and status come back") {
  const Ended ended = run_child({"sh", "-c", "echo data; echo message >&2; exit 3"}, patience);
  CHECK(ended.output == "data\n");
  CHECK(ended.messages == "message\n");
  CHECK(ended.status == 3);
  CHECK_FALSE(ended.timed_out);
}

TEST_CASE("a child that takes too long is told to end") {
  const Ended ended =
      run_child({"sh", "-c", "trap 'echo told; exit 4' TERM; while :; do :; done"}, std::chrono::seconds(1));
  CHECK(ended.timed_out);
  CHECK(ended.output == "told\n");
  CHECK(ended.status == 4);
}

TEST_CASE("variables that would change a measured program do not reach it") {
  setenv("DAG_ADDRESS", "127.0.0.1:1", 1);
  CHECK(run_child({"sh", "-c", "echo \"$DAG_ADDRESS\""}, patience).output == "\n");
  unsetenv("DAG_ADDRESS");
}

TEST_CASE("a program that is not there is an error that names it") {
  CHECK_THROWS_WITH(run_child({"dag-bench-nobody"}, std::chrono::seconds(1)),
                    Catch::Contains("dag-bench-nobody"));
}

TEST_CASE("a script runs afterwards, also when its process was killed") {
  const dag::test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "ran").string();
  const int signal = GENERATE(SIGKILL, SIGTERM);
  int begun[2];
  REQUIRE(pipe(begun) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Afterwards afterwards("touch \"$1\"", {file});
    static_cast<void>(!write(begun[1], "", 1));
    pause();
    _exit(1);
  }
  char byte = 0;
  REQUIRE(read(begun[0], &byte, 1) == 1);
  close(begun[0]);
  close(begun[1]);
  CHECK_FALSE(std::filesystem::exists(file));
  kill(child, signal);
  waitpid(child, nullptr, 0);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  CHECK(std::filesystem::exists(file));
  {
    std::filesystem::remove(file);
    const Afterwards afterwards("touch \"$1\"", {file});
  }
  CHECK(std::filesystem::exists(file));
}
