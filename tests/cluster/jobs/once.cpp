// Tasks that must not run twice, each of which writes its number into a ledger outside.
//
//   once LEDGER TASKS   says `quarter` when a quarter of them have ended, then `finished N unknown M other K`

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>

namespace {

void pay(std::string ledger, int number) {
  const std::string line = std::to_string(number) + "\n";
  const int file = open(ledger.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line.data(), line.size()) < 0)
    throw std::runtime_error("cannot write the ledger");
  close(file);
  volatile std::uint64_t busy = 0;  // So that it runs for a while when somebody kills it.
  for (std::uint64_t i = 0; i < 20'000'000; ++i) busy = busy + i;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::string ledger = argv[1];
  const int tasks = std::atoi(argv[2]);
  dag::Graph graph("once");
  std::vector<dag::Output<void>> payments;
  for (int i = 0; i < tasks; ++i) {
    payments.push_back(graph.task("pay", pay, ledger, i).effects(dag::at_most_once));
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
