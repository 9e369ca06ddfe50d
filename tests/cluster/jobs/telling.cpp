// A job that reports on itself: `telling FIFO` has a task that reports its progress and waits until the FIFO
// is opened for writing, one that fails once, one that is late once, one that takes its process down once,
// and one that spawns, of a total that is stated. `telling FIFO deaf [WAITING]` has a task that does not
// hear that it is late, others that wait for its lane, and one that says its last words when it is
// cancelled. `telling FIFO stopping` has a task that does not hear that it is late, and is tried again and
// again.

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <stdexcept>
#include <string>

#include "tests/cluster/jobs/ledger.hpp"

namespace {

using namespace std::chrono_literals;

void wait_for(const std::string& fifo) {
  const int file = open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("no gate");
  close(file);
}

int half(dag::Context& context, std::string fifo) {
  context.progress(0.45, "loss 0.5");
  wait_for(fifo);
  return 1;
}

int flaky(dag::Context& context) {
  if (context.attempt() == 1) throw std::runtime_error("the service does not answer");
  return 1;
}

int late(dag::Context& context) {
  while (context.attempt() == 1 && !context.cancelled()) ledger::work();
  return 1;
}

int poison(dag::Context& context) {
  if (context.attempt() == 1) std::abort();
  return 1;
}

int spawns(dag::Context& context) {
  for (int i = 0; i < 4; ++i) context.spawn("small", [] { return 1; });
  return 1;
}

int deaf(std::string fifo) {
  wait_for(fifo);
  return 1;
}

int polite(dag::Context& context) {
  context.log("first words");
  while (!context.cancelled()) ledger::work();
  context.log("last words");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  if (argc < 2) return 2;
  const std::string fifo = argv[1];
  dag::Graph graph("telling");
  if (argc > 2 && std::string(argv[2]) == "stopping") {
    graph.task("deaf", deaf, fifo).timeout(100ms).retry({.attempts = 50}).effects(dag::idempotent);
    return session.submit(graph).wait() ? 0 : 1;
  }
  if (argc > 2) {
    // No attempt comes after it, so nobody waits until its kernel returns, and its process stays.
    graph.task("deaf", deaf, fifo).timeout(100ms).priority(dag::high).effects(dag::idempotent);
    graph.task("polite", polite);
    const int waiting = argc > 3 ? std::stoi(argv[3]) : 12;
    for (int i = 0; i < waiting; ++i)
      graph.task("wait", [] {
        const auto until = std::chrono::steady_clock::now() + 3s;
        while (std::chrono::steady_clock::now() < until) ledger::work();
        return 1;
      });
    return session.submit(graph).wait() ? 0 : 1;
  }
  session.on_event([](const dag::JobEvent& event) {
    if (event.kind == dag::JobEvent::Kind::progress) return;
    std::cout << static_cast<int>(event.kind) << ' ' << event.task << ' ' << event.number << ' '
              << event.attempt << ": " << event.text << std::endl;
  });
  graph.task("half", half, fifo);
  graph.task("flaky", flaky).retry({.attempts = 2});
  graph.task("late", late).retry({.attempts = 2}).timeout(200ms);
  graph.task("poison", poison).retry({.attempts = 2});
  graph.task("spawns", spawns);
  graph.total(9);
  return session.submit(graph).wait() ? 0 : 1;
}
