// Output to stdout arrives, or the exit status and stderr say that it did not; and JSON is JSON, whatever
// bytes a command prints.

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/cluster/processes.hpp"

using cluster::bin;
using cluster::Directory;
using cluster::Process;

namespace {

/// `script` sees the programs' folder as $B.
Process shell(const std::string& script) {
  const std::string folder = std::filesystem::path(bin("dag")).parent_path();
  return Process({"env", "B=" + folder, "/bin/bash", "-c", script});
}

}  // namespace

TEST_CASE("output that a full disk or a closed pipe takes is an error, of every program") {
  const std::string command = GENERATE(
      as<std::string>{}, "dag", "dag --help", "dag help exec", "dag version", "dag version --json",
      "dag exec -- echo hi", "dag exec --json -- true", "dag exec -- sh -c 'head -c 100000 /dev/zero'",
      "dag completion bash", "dag config show", "dag submit --dry-run $B/hello",
      "dag submit --dry-run --json $B/hello", "dag graph $B/hello", "dagd --help", "dag-bench --help",
      "dag-sim --help", "dag-sim chaos --seeds 1-2", "dag-sim chaos --seeds 1-2 --json");
  SECTION("a full disk") {
    Process run = shell("$B/" + command + " > /dev/full");
    INFO(command);
    CHECK(run.ends() == 1);
    CHECK_THAT(run.err(), Catch::Contains("not all output could be written: No space left on device") ||
                              Catch::Contains("not all output could be written: the disk"));
  }
  SECTION("a closed pipe") {
    // The reader is gone before anything is written: the fifo's other end is closed by then.
    const Directory directory("closed");
    Process run = shell("mkfifo " + directory / "p" + "; exec 8<> " + directory / "p" + " 9> " +
                        directory / "p" + " 8>&-; $B/" + command + " >&9 9>&-");
    INFO(command);
    CHECK(run.ends() == 1);
    CHECK_THAT(run.err(), Catch::Contains("not all output could be written: Broken pipe"));
  }
}

TEST_CASE("what a failing command printed is JSON, whatever it was") {
  const std::string prints =
      GENERATE(as<std::string>{}, "printf 'cannot open caf\\351.txt\\n' >&2",
               "i=0; while [ $i -lt 1500 ]; do printf '\\303\\251'; i=$((i+1)); done >&2; printf x >&2",
               "printf '\\000\\001\\377\\355\\240\\200' >&2");
  Process run({bin("dag"), "exec", "--json", "--array", "1-3", "--", "/bin/sh", "-c",
               prints + "; [ $DAG_TASK_ID != 2 ]"});
  CHECK(run.ends() == 1);
  const auto json = nlohmann::json::parse(run.out(), nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  CHECK(json["tasks"].size() == 3);
  CHECK(json["tasks"][1]["error"].get<std::string>().find("exit status 1") != std::string::npos);
}
