// `dag up` and what is said of its cluster: where nodes listen, also after a restart and by IPv6; a node that
// is stopped; how the history of a job begins.

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/cluster/processes.hpp"

using cluster::bin;
using cluster::Directory;
using cluster::Process;

namespace {

/// A cluster of the test's own, which ends with it.
class State {
 public:
  explicit State(const std::string& name) : directory_(name) {}
  ~State() { run({"down"}); }

  struct Ended {
    std::optional<int> status;
    std::string out, err;
  };
  Ended run(std::vector<std::string> words) const {
    words.insert(words.begin(), bin("dag"));
    Process process(words, {{"DAG_STATE_DIR", directory_ / "state"}, {"DAG_ADDRESS", ""}});
    const auto status = process.ends();
    return {status, process.out(), process.err()};
  }
  std::string data() const { return directory_ / "data"; }

  /// For each node: where it listens, and where it serves HTTP.
  std::vector<std::string> addresses() const {
    std::vector<std::string> found;
    const auto listed = nlohmann::json::parse(run({"node", "list", "--json"}).out);
    for (const auto& node : listed.at("nodes")) {
      found.push_back(node.at("address"));
      found.push_back(node.at("http").dump());
    }
    return found;
  }

 private:
  Directory directory_;
};

}  // namespace

TEST_CASE("with a data directory nodes have the same ports after a restart") {
  const State state("ports");
  REQUIRE(state.run({"up", "--nodes", "2", "--data", state.data()}).status == 0);
  const auto before = state.addresses();
  REQUIRE(before.size() == 4);
  REQUIRE(state.run({"down"}).status == 0);
  REQUIRE(state.run({"up", "--nodes", "2", "--data", state.data()}).status == 0);
  CHECK(state.addresses() == before);
}

TEST_CASE("nodes listen at IPv6, and serve no HTTP where that is said") {
  const State state("v6");
  const auto up = state.run({"up", "--listen", "::1", "--http", "off"});
  if (up.status != 0) {
    WARN("this machine has no IPv6: " + up.err);
    return;
  }
  CHECK_THAT(up.out, Catch::StartsWith("export DAG_ADDRESS=[::1]:"));
  CHECK_THAT(state.addresses().back(), !Catch::Contains("://"));
  CHECK(state.run({"submit", "--watch", bin("hello")}).out == "5\n");
}

TEST_CASE("a history begins with a summary, and a node can be stopped from anywhere") {
  const State state("stop");
  REQUIRE(state.run({"up", "--nodes", "2"}).status == 0);
  REQUIRE(state.run({"submit", "--watch", bin("hello")}).out == "5\n");
  const auto past = state.run({"history", "last"});
  CHECK(past.status == 0);
  CHECK_THAT(past.out,
             Catch::StartsWith("job1 hello: finished after ") && Catch::Contains("  tasks  2 finished\n\n"));
  const auto stopped = state.run({"node", "stop", "n1"});
  CHECK(stopped.out == "n1 has stopped\n");
  CHECK(state.run({"node", "stop", "n7"}).status == 5);
}
