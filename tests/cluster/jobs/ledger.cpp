// Tasks that each write their number into a ledger outside, and a sum that needs them all.
//
//   ledger LEDGER TASKS GATE   says `quarter` when a quarter of them have ended, then `sum N`
//
// Until the gate is open each task of the other three quarters takes a moment, and the sum waits: so tasks
// end all the time, and the job does not. The sum is written into LEDGER.sum.

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <numeric>
#include <string>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

int enter(std::string file, int number, std::string gate) {
  if (!gate.empty()) ledger::wait_at(gate, 100);
  ledger::enter(file, number);
  return number;
}

int sum(dag::Context& context, std::string file, std::string gate, std::vector<int> numbers) {
  const int all = std::accumulate(numbers.begin(), numbers.end(), 0);
  while (!context.cancelled() && !ledger::wait_at(gate, 100)) continue;
  ledger::enter(file + ".sum", all);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 4) return 2;
  const std::string file = argv[1], gate = argv[3];
  const int tasks = std::atoi(argv[2]);
  dag::Graph graph("ledger");
  std::vector<dag::Output<int>> entries;
  for (int i = 0; i < tasks; ++i)
    entries.push_back(graph.task("enter", enter, file, i, i < tasks / 4 ? std::string() : gate));
  const auto all = graph.task("sum", sum, file, gate, entries);
  dag::Job job = session.submit(graph);
  int ended = 0;
  for (const auto& entry : session.as_completed(entries)) {
    job.get(entry);
    if (++ended == tasks / 4) std::cout << "quarter" << std::endl;
  }
  std::cout << "sum " << job.get(all) << std::endl;
}
