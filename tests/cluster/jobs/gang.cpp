// A gang: three tasks that wait for each other's sake, and are started again together.
//
//   gang LEDGER GO   each attempt of a member enters its rank and its process into LEDGER, and waits until
//   there
//                    is a file GO, or it is told to stop; at last says `sum N`

#include <unistd.h>

#include <dag/dag.hpp>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

int work(dag::Context& context, int rank, std::string file, std::string go) {
  ledger::enter(file, rank * 10'000'000 + getpid());
  while (!context.cancelled() && !std::filesystem::exists(go)) ledger::work();
  return rank;
}

int sum(std::vector<int> ranks) {
  int all = 0;
  for (const int rank : ranks) all += rank;
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("gang");
  const auto gang = graph.group("workers", dag::one_for_all);
  std::vector<dag::Output<int>> ranks;
  for (int rank = 1; rank <= 3; ++rank) {
    ranks.push_back(graph.task("work", work, rank, std::string(argv[1]), std::string(argv[2])).in(gang));
  }
  const auto all = graph.task("sum", sum, ranks);
  std::cout << "sum " << session.submit(graph).get(all) << std::endl;
}
