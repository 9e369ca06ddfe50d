// Tasks that each write their number into a ledger outside, and a sum that needs them all.
//
//   ledger LEDGER TASKS   says `quarter` when a quarter of them have ended, then `sum N`

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <numeric>
#include <string>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

int enter(std::string file, int number) {
  ledger::work();
  ledger::enter(file, number);
  return number;
}

int sum(std::vector<int> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0); }

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string file = argv[1];
  const int tasks = std::atoi(argv[2]);
  dag::Graph graph("ledger");
  std::vector<dag::Output<int>> entries;
  for (int i = 0; i < tasks; ++i) entries.push_back(graph.task("enter", enter, file, i));
  const auto all = graph.task("sum", sum, entries);
  dag::Job job = session.submit(graph);
  int ended = 0;
  for (const auto& entry : session.as_completed(entries)) {
    job.get(entry);
    if (++ended == tasks / 4) std::cout << "quarter" << std::endl;
  }
  std::cout << "sum " << job.get(all) << std::endl;
}
