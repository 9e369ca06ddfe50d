// A job actor that counts, and is saved now and then; its state is too large for the job's record.
//
//   counting LEDGER CALLS QUARTERS [DUE]   each call writes its number into the ledger, and every quarter of
//                                          them its process into QUARTERS; at last says `sum N`. With DUE it
//                                          is saved when that is due, else after every fifth call.

#include <unistd.h>

#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

constexpr int calls_per_save = 5;

struct Counter {
  std::string ledger, quarters;
  std::vector<long> added = std::vector<long>(4000);

  long add(int number, int calls) {
    ledger::work();
    ledger::enter(ledger, number);
    if (number % (calls / 4) == calls / 4 - 1) ledger::enter(quarters, getpid());
    added[static_cast<std::size_t>(number)] = number;
    long sum = 0;
    for (const long one : added) sum += one;
    return sum;
  }
  void save(dag::Writer& to) const {
    dag::encode(to, ledger);
    dag::encode(to, quarters);
    dag::encode(to, added);
  }
  static Counter restore(dag::Reader& from) {
    Counter counter;
    counter.ledger = dag::decode<std::string>(from);
    counter.quarters = dag::decode<std::string>(from);
    counter.added = dag::decode<std::vector<long>>(from);
    return counter;
  }
};

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const int calls = std::atoi(argv[2]);
  const bool when_due = argc > 4;
  dag::Graph graph("counting");
  const auto counter = graph.actor<Counter>("counter", std::string(argv[1]), std::string(argv[3]));
  dag::Output<long> sum = counter.call<&Counter::add>(0, calls);
  for (int number = 1; number < calls; ++number) {
    sum = counter.call<&Counter::add>(number, calls);
    if (when_due) {
      counter.save_when_due(std::chrono::milliseconds(1));
    } else if (number % calls_per_save == calls_per_save - 1) {
      static_cast<void>(counter.save());
    }
  }
  std::cout << "sum " << session.submit(graph).get(sum) << std::endl;
}
