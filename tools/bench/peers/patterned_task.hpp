#pragma once
// A task of Task Bench, the same in every runner: it checks that its inputs come from its predecessors,
// computes for a number of iterations, and returns its own name. And the sweep over the number of iterations,
// from which METG is read.

#include <stdexcept>

#include "tools/bench/patterns.hpp"
#include "tools/bench/peers/peer.hpp"

namespace dag::bench {

/// The output of a task: its place in the table.
using Left = PatternTable::Place;

/// The compute-bound kernel of the paper: each iteration squares and adds 64 numbers, 128 operations.
inline void compute(std::uint64_t iterations) {
  constexpr std::size_t wide = 64;
  double numbers[wide];
  for (std::size_t i = 0; i < wide; ++i) numbers[i] = 1.2345;
  for (std::uint64_t round = 0; round < iterations; ++round) {
    for (std::size_t i = 0; i < wide; ++i) numbers[i] = numbers[i] * numbers[i] + numbers[i];
  }
  // The compiler must believe that somebody reads them.
  asm volatile("" : : "r"(numbers) : "memory");
}

/// `input(k)` is the output of the k-th predecessor.
template <class Input>
Left patterned_task(const PatternTable& table, std::uint32_t task, std::uint64_t iterations, Input input) {
  const auto predecessors = table.predecessors(task);
  for (std::size_t k = 0; k < predecessors.size(); ++k) {
    if (input(k) != table.place(predecessors[k]))
      throw std::runtime_error("a task got the input of another one");
  }
  if (iterations > 0) compute(iterations);
  return table.place(task);
}

/// The table that `--pattern --width --steps --radix` describe.
inline PatternTable table_of(const Request& request) {
  const auto number = [&](const char* name, std::uint64_t otherwise) {
    return static_cast<std::uint32_t>(request.number(name, otherwise));
  };
  const auto pattern = Pattern::by_name(request.text("pattern"),
                                        {number("width", 4), number("steps", 10), number("radix", 5)});
  if (!pattern) throw std::invalid_argument("no pattern is called '" + request.text("pattern") + "'");
  return PatternTable(*pattern);
}

/// Below this part of the best rate the half is far behind for any runner: shorter tasks are not tried.
inline constexpr double rate_of_no_interest = 0.2;

/// Runs the table with each number of iterations of `--iterations 4096,2048,...`, once before to warm up.
/// `run(iterations)` answers figures, which are returned under `name@iterations`.
template <class Run>
Figures sweep(const Request& request, Run run) {
  Figures answer;
  const std::string list = request.text("iterations");
  run(std::uint64_t{1});
  double best_rate = 0;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    const std::string iterations = list.substr(at, comma - at);
    const Figures figures = run(std::stoull(iterations));
    for (const auto& [name, value] : figures.numbers) answer.numbers[name + "@" + iterations] = value;
    const double rate = std::stod(iterations) / figures.numbers.at("total");
    best_rate = std::max(best_rate, rate);
    if (rate < best_rate * rate_of_no_interest) break;
    at = comma + 1;
  }
  return answer;
}

}  // namespace dag::bench
