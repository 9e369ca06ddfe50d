// `poison HOW`, for `dag run -n N`: tasks that take down whichever process runs them, but process 0, by HOW:
// segv, exit, or kill; 0 to N - 1 one each, and some that are harmless. Says how each ended.
#include <signal.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

int deadly(std::string how) {
  const char* const rank = std::getenv("DAG_RANK");
  ledger::work();  // Others run beside it.
  if (rank == nullptr || std::string(rank) == "0") return 0;
  if (how == "exit") std::exit(3);
  if (how == "kill") raise(SIGKILL);
  raise(SIGSEGV);
  return 1;
}

int harmless(int number) {
  ledger::work(5);
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc != 2) return 2;
  dag::Graph graph("poison");
  std::vector<dag::Output<int>> harmless_ones;
  for (int i = 0; i < 200; ++i) harmless_ones.push_back(graph.task("harmless", harmless, i));
  // Behind some of them: it begins where they ran.
  const auto deadly_one = graph.task(
      "deadly", [](std::string how, int) { return deadly(std::move(how)); }, std::string(argv[1]),
      harmless_ones[199]);
  deadly_one.retry({.attempts = 20, .backoff = std::chrono::milliseconds(1)});
  const dag::Job job = session.submit(graph);
  int finished = 0;
  for (std::size_t i = 0; i < harmless_ones.size(); ++i)
    finished += job.get(harmless_ones[i]) == static_cast<int>(i);
  std::cout << finished << " harmless tasks\n";
  try {
    job.get(deadly_one);
    std::cout << "deadly ran in process 0\n";
  } catch (const dag::Failure& failure) {
    std::cout << failure.error().message() << "\n";
  }
  return 0;
}
