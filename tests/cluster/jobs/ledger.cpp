// Tasks that each write their number into a ledger outside, and a sum that needs them all.
//
//   ledger LEDGER TASKS [FIFO]   says `quarter` when a quarter of them have ended, then `sum N`. With a FIFO
//   the sum
//                                waits until somebody has opened that for writing, and is written into
//                                LEDGER.sum

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

int sum(std::string file, std::string fifo, std::vector<int> numbers) {
  const int all = std::accumulate(numbers.begin(), numbers.end(), 0);
  if (fifo.empty()) return all;
  const int gate = open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
  if (gate < 0) throw std::runtime_error("no gate");
  close(gate);
  ledger::enter(file + ".sum", all);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string file = argv[1];
  const int tasks = std::atoi(argv[2]);
  dag::Graph graph("ledger");
  std::vector<dag::Output<int>> entries;
  for (int i = 0; i < tasks; ++i) entries.push_back(graph.task("enter", enter, file, i));
  const auto all = graph.task("sum", sum, file, std::string(argc > 3 ? argv[3] : ""), entries);
  dag::Job job = session.submit(graph);
  int ended = 0;
  for (const auto& entry : session.as_completed(entries)) {
    job.get(entry);
    if (++ended == tasks / 4) std::cout << "quarter" << std::endl;
  }
  std::cout << "sum " << job.get(all) << std::endl;
}
