// A long task that saves its state, and goes on from there in another process.
//
//   saving LEDGER STEPS QUARTERS   each step goes into the ledger, and when a quarter of them was done by one
//                                  attempt, its process into QUARTERS; at last says `sum N from M`, M the
//                                  step that the last attempt went on from

#include <unistd.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

struct State {
  int next = 0;
  long sum = 0;
};

struct Result {
  long sum = 0;
  int from = 0;
};

Result add(dag::Context& context, std::string file, int steps, std::string quarters) {
  State state = context.restore<State>().value_or(State{});
  const int from = state.next;
  for (; state.next < steps; context.checkpoint(state)) {
    ledger::work();
    ledger::enter(file, state.next);
    if (state.next == from + steps / 4) ledger::enter(quarters, getpid());
    state.sum += state.next++;
  }
  return {state.sum, from};
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  dag::Graph graph("saving");
  const auto sum = graph.task("add", add, std::string(argv[1]), std::atoi(argv[2]), std::string(argv[3]))
                       .checkpoint(std::chrono::milliseconds(20));
  const Result result = session.submit(graph).get(sum);
  std::cout << "sum " << result.sum << " from " << result.from << std::endl;
}
