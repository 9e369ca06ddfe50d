#pragma once
// A cluster in which a job runs that writes down outside what it did, for tests of what happens to its nodes.

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "tests/cluster/nodes.hpp"

namespace cluster {

/// The numbers that tasks of cluster_ledger wrote down.
inline std::set<int> entered_in(const std::string& ledger) {
  std::set<int> entered;
  std::ifstream file(ledger);
  for (int number = 0; file >> number;) entered.insert(number);
  return entered;
}

/// A cluster with a job that a quarter of has ended.
struct Running {
  dag::test::TemporaryDirectory directory;
  const std::string ledger = directory.path().string() + "/ledger";
  const std::size_t tasks;
  Nodes nodes;
  std::unique_ptr<Process> job;

  /// `fifo`: the job ends when somebody has opened it.
  Running(std::uint32_t count, bool keep, std::size_t tasks_in_job, std::string data_of_first = {},
          std::string fifo = {})
      : tasks(tasks_in_job), nodes(count, keep, std::move(data_of_first)) {
    nodes.gather();
    std::vector<std::string> words{bin("cluster_ledger"), ledger, std::to_string(tasks)};
    if (!fifo.empty()) words.push_back(std::move(fifo));
    job = std::make_unique<Process>(at(nodes, std::move(words)));
    REQUIRE(job->says("quarter"));
  }
  void check_end() {
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
