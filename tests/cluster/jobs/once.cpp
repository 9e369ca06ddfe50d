// Tasks that must not run twice, each of which writes its number into a ledger outside.
//
//   once LEDGER TASKS GATE   says `quarter` when a quarter of them have ended, then
//                            `finished N unknown M other K`
//
// Until the gate is open each task of the other three quarters lasts, for a second at most.

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

void pay(std::string file, int number, std::string gate) {
  ledger::enter(file, number);
  if (!gate.empty()) ledger::wait_at(gate, 1000);
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string file = argv[1];
  const int tasks = std::atoi(argv[2]);
  dag::Graph graph("once");
  std::vector<dag::Output<void>> payments;
  for (int i = 0; i < tasks; ++i) {
    const std::string gate = i < tasks / 4 ? "" : argv[3];
    payments.push_back(graph.task("pay", pay, file, i, gate).effects(dag::at_most_once));
  }
  dag::Job job = session.submit(graph);
  int ended = 0, finished = 0, unknown = 0, other = 0;
  for (const auto& payment : session.as_completed(payments)) {
    if (++ended == tasks / 4) std::cout << "quarter" << std::endl;
    try {
      job.get(payment);
      ++finished;
    } catch (const dag::Failure& failure) {
      ++(failure.error().code == dag::ErrorCode::outcome_unknown ? unknown : other);
    }
  }
  std::cout << "finished " << finished << " unknown " << unknown << " other " << other << '\n';
}
