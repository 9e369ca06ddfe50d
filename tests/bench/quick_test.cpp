// `dag-bench all --quick --json` as a user calls it, on a machine without peers: the programs that need no
// package lie alone in a folder. What is tested is the benchmark; nobody's speed.

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/patience.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/bench/child.hpp"

namespace {

namespace fs = std::filesystem;
using dag::bench::Ended;
using dag::bench::run_child;
using nlohmann::json;

/// dag-bench and what it measures, without the peers that need a package.
class Bench {
 public:
  Bench() {
    const fs::path built = std::getenv("DAG_BIN") != nullptr ? std::getenv("DAG_BIN") : "";
    for (const char* program : {"dag", "dagd", "dag-sim", "dag-bench", "dag-bench-peer-libdag",
                                "dag-bench-peer-floor", "dag-bench-peer-placer", "dag-bench-peer-log"}) {
      fs::copy_file(built / program, home_.path() / program);
    }
  }
  Ended run(std::vector<std::string> words) const {
    words.insert(words.begin(), (home_.path() / "dag-bench").string());
    return run_child(words,
                     std::chrono::ceil<std::chrono::seconds>(dag::test::patient(std::chrono::minutes(5))));
  }

 private:
  dag::test::TemporaryDirectory home_;
};

double median_of(const json& row, const std::string& runner) {
  for (const json& one : row["runners"]) {
    if (one["runner"] == runner) return one["median"];
  }
  return 0;
}

}  // namespace

TEST_CASE("all commands answer in JSON with every field, and missing peers are named with their packages") {
  const Ended ended = Bench().run({"all", "--quick", "--json"});
  INFO(ended.messages);
  REQUIRE(ended.status == 0);
  const json report = json::parse(ended.output);

  CHECK(report["quick"] == true);
  CHECK(report["repetitions"] == 1);
  CHECK(report["machine"]["cores"].get<int>() >= 1);
  for (const char* field : {"cpu", "kernel", "governor", "load", "busy", "memory_gib", "compiler"}) {
    CHECK(report["machine"].contains(field));
  }
  std::map<std::string, std::string> skipped;
  for (const json& one : report["skipped"]) skipped[one["runner"]] = one["package"];
  CHECK(skipped["tbb"] == "libtbb-dev");
  CHECK(skipped["starpu"] == "libstarpu-dev");
  CHECK(skipped["mpi"] == "libopenmpi-dev");
  CHECK(skipped["dask"] == "python3-distributed");
  CHECK_FALSE(skipped.contains("floor"));

  std::set<std::string> commands, goals;
  for (const json& section : report["sections"]) {
    commands.insert(section["command"]);
    CHECK_FALSE(section["explained"].get<std::string>().empty());
    CHECK_FALSE(section["rows"].empty());
    for (const json& row : section["rows"]) {
      CAPTURE(section["command"].dump(), row.dump());
      CHECK_FALSE(row["unit"].get<std::string>().empty());
      // Idle nodes may well need less than the operating system counts.
      CHECK((median_of(row, "libdag") > 0 || section["command"] == "idle"));
      for (const json& runner : row["runners"]) {
        CHECK(runner["min"] <= runner["median"]);
        CHECK(runner["median"] <= runner["max"]);
        CHECK(runner["values"].size() == runner["count"]);
        if (!runner.contains("ratio")) continue;
        for (const auto& [other, ratio] : runner["ratio"].items()) {
          CHECK(ratio.get<double>() == Approx(median_of(row, runner["runner"]) / median_of(row, other)));
        }
      }
    }
    for (const json& verdict : section["verdicts"]) {
      const double result = verdict["result"], limit = verdict["limit"];
      const bool at_most = !verdict["wanted"].get<std::string>().starts_with("≥");
      CHECK(verdict["met"] == (at_most ? result <= limit : result >= limit));
      CHECK_FALSE(verdict["goal"].get<std::string>().empty());
      goals.insert(verdict["goal"]);
    }
  }
  CHECK(commands == std::set<std::string>{"overhead",   "metg",    "distributed", "growth",      "memory",
                                          "latency",    "submit",  "submits",     "coarse",      "steal",
                                          "blob",       "idle",    "isolated",    "placement",   "durability",
                                          "replicated", "watched", "journal",     "checkpoints", "scale"});
  for (const char* goal : {"watched", "unwatched", "journal", "replicas"}) CHECK(goals.contains(goal));
}

TEST_CASE("only the peers that are asked for take part") {
  const Ended ended = Bench().run({"overhead", "--quick", "--json", "--repeat", "2", "--peers", "floor"});
  INFO(ended.messages);
  REQUIRE(ended.status == 0);
  const json report = json::parse(ended.output);
  CHECK(report["skipped"].empty());
  CHECK(report["repetitions"] == 2);
  const json& row = report["sections"][0]["rows"][0];
  REQUIRE(row["runners"].size() == 2);
  CHECK(row["runners"][1]["runner"] == "floor");
  CHECK(row["runners"][1]["values"].size() == 2);
}

TEST_CASE("what cannot be is refused with status 2") {
  const Bench bench;
  const Ended unknown = bench.run({"overhead", "--peers", "cilk"});
  CHECK(unknown.status == 2);
  CHECK(unknown.messages.find("there is no peer 'cilk'") != std::string::npos);
  CHECK(bench.run({}).status == 2);
  CHECK(bench.run({"overhead", "--repeat", "0"}).status == 2);
  CHECK(bench.run({"--help"}).status == 0);
}
