// A job for the cluster tests: a wide graph, job actors, families of tasks, and a task that becomes what it
// spawned. Its result is a number that only comes out when every task saw the right inputs and every actor
// its calls in order.
//
//   mixture [LEAVES [ROUNDS]]   says `quarter` when a quarter of the leaves have ended, and then `result N`

#include <cstdint>
#include <cstdlib>
#include <dag/dag.hpp>
#include <iostream>
#include <vector>

namespace {

std::uint64_t churn(std::uint64_t seed, std::uint64_t rounds) {
  std::uint64_t state = seed + 0x9E3779B97F4A7C15ULL;
  for (std::uint64_t i = 0; i < rounds * 1000; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

std::uint64_t join(std::uint64_t a, std::uint64_t b) { return a * 1099511628211ULL + b; }
std::uint64_t fold(std::vector<std::uint64_t> parts) {
  std::uint64_t all = 14695981039346656037ULL;
  for (const std::uint64_t part : parts) all = join(all, part);
  return all;
}

/// Not commutative: a call that is lost, repeated or out of order shows.
struct Ledger {
  std::uint64_t total = 1;
  std::uint64_t add(std::uint64_t value) { return total = join(total, value); }
};

/// A cell of a wave, from those before it, what all cells get, and its own source.
std::uint64_t cell(dag::Point at, std::vector<std::uint64_t> before, std::uint64_t all, std::uint64_t own) {
  before.push_back(join(all, own));
  return churn(join(fold(before), at.row * 1000 + at.column), 5);
}

dag::Output<std::uint64_t> grow(dag::Context& context, std::uint64_t seed) {
  std::vector<dag::Output<std::uint64_t>> parts;
  for (std::uint64_t i = 0; i < 8; ++i)
    parts.push_back(context.spawn("part", churn, seed + i, std::uint64_t{10}));
  return context.spawn("fold", fold, parts);
}

}  // namespace

int main(int argc, char** argv) {
  dag::Session session(argc, argv);
  const std::uint64_t leaves = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 60;
  const std::uint64_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;

  dag::Graph graph("mixture");
  std::vector<dag::Output<std::uint64_t>> ends, level;
  for (std::uint64_t i = 0; i < leaves; ++i) ends.push_back(graph.task("leaf", churn, i, rounds));
  std::vector<dag::Actor<Ledger>> ledgers;
  for (const char* name : {"red", "green", "blue"}) ledgers.push_back(graph.actor<Ledger>(name));
  std::vector<dag::Output<std::uint64_t>> last;
  for (std::uint64_t i = 0; i < leaves; ++i) {
    auto total = ledgers[i % 3].call<&Ledger::add>(ends[i]);
    if (i + 3 >= leaves) last.push_back(total);
  }
  level = ends;
  while (level.size() > 1) {
    std::vector<dag::Output<std::uint64_t>> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(graph.task("join", join, level[i], level[i + 1]));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = std::move(next);
  }
  last.push_back(graph.task("grow", grow, level.front()));
  const dag::Range wave{12, 8};
  const auto sources =
      graph.family("source", wave, [](dag::Point at) { return churn(at.row * 8 + at.column, 5); }, {});
  const auto cells = graph.family("cell", wave, cell, {{-1, 0}, {-1, 1}, {0, -1}}, level.front(), sources);
  for (const auto& end : cells.row(wave.rows - 1)) last.push_back(end);
  const auto result = graph.task("all", fold, last);

  const dag::Job job = session.submit(graph);
  std::uint64_t ended = 0;
  for ([[maybe_unused]] const auto& end : session.as_completed(ends)) {
    if (++ended == leaves / 4) std::cout << "quarter" << std::endl;
  }
  std::cout << "result " << job.get(result) << std::endl;
}
