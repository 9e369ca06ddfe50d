#pragma once
// A cluster with a job that writes down its runs outside of it, for tests of faults of its nodes.

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "tests/cluster/gate.hpp"
#include "tests/cluster/nodes.hpp"

namespace cluster {

/// The numbers that tasks of cluster_ledger wrote down.
inline std::set<int> entered_in(const std::string& ledger) {
  std::set<int> entered;
  std::ifstream file(ledger);
  for (int number = 0; file >> number;) entered.insert(number);
  return entered;
}

/// A cluster with a job of which a quarter has ended. The job goes on, slowly, and ends when the test lets
/// it.
struct Running {
  dag::test::TemporaryDirectory directory;
  const std::string ledger = directory.path().string() + "/ledger";
  const std::size_t tasks;
  Gate gate;
  Nodes nodes;
  std::unique_ptr<Process> job;

  /// Two lanes each: how long a job of so many tasks goes on does not depend on the machine.
  Running(std::uint32_t count, bool keep, std::size_t tasks_in_job, std::string data_of_first = {})
      : tasks(tasks_in_job), nodes(count, keep, std::move(data_of_first), {}, {"--lanes", "2"}) {
    nodes.gather();
    job = std::make_unique<Process>(
        at(nodes, {bin("cluster_ledger"), ledger, std::to_string(tasks), gate.path()}));
    REQUIRE(job->says("quarter"));
  }
  void check_end() {
    gate.open();
    const auto ended = job->ends();
    if (ended != 0) nodes.end_all();
    INFO(nodes.logs());
    INFO(job->err());
    CHECK(ended == 0);
    CHECK_THAT(job->out(), Catch::Contains("sum " + std::to_string(tasks * (tasks - 1) / 2) + "\n"));
    CHECK(entered_in(ledger).size() == tasks);
  }
};

}  // namespace cluster
