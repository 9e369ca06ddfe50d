// Tasks that must not run twice, each of which writes its number into a ledger outside.
//
//   once LEDGER TASKS   says `quarter` when a quarter of them have ended, then `finished N unknown M other K`

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

void pay(std::string file, int number) {
  ledger::enter(file, number);
  ledger::work();
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string file = argv[1];
  const int tasks = std::atoi(argv[2]);
  dag::Graph graph("once");
  std::vector<dag::Output<void>> payments;
  for (int i = 0; i < tasks; ++i) {
    payments.push_back(graph.task("pay", pay, file, i).effects(dag::at_most_once));
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
