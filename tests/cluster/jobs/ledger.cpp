// Tasks that each write their number into a ledger outside, and a sum that needs them all.
//
//   ledger LEDGER TASKS   says `quarter` when a quarter of them have ended, then `sum N`

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <numeric>
#include <string>

namespace {

int enter(std::string ledger, int number) {
  volatile std::uint64_t busy = 0;  // So that it runs for a while when somebody is killed.
  for (std::uint64_t i = 0; i < 20'000'000; ++i) busy = busy + i;
  const std::string line = std::to_string(number) + "\n";
  const int file = open(ledger.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line.data(), line.size()) < 0)
    throw std::runtime_error("cannot write the ledger");
  close(file);
  return number;
}

int sum(std::vector<int> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0); }

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string ledger = argv[1];
  const int tasks = std::atoi(argv[2]);
  dag::Graph graph("ledger");
  std::vector<dag::Output<int>> entries;
  for (int i = 0; i < tasks; ++i) entries.push_back(graph.task("enter", enter, ledger, i));
  const auto all = graph.task("sum", sum, entries);
  dag::Job job = session.submit(graph);
  int ended = 0;
  for (const auto& entry : session.as_completed(entries)) {
    job.get(entry);
    if (++ended == tasks / 4) std::cout << "quarter" << std::endl;
  }
  std::cout << "sum " << job.get(all) << std::endl;
}
