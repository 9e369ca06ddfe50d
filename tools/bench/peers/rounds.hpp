#pragma once
// Several rounds in one process: a warm-up, then `--rounds` rounds that count.

#include <algorithm>
#include <vector>

#include "tools/bench/peers/peer.hpp"

namespace dag::bench {

/// For each number of the rounds: the median, and the least of them under `least NAME`. What disturbs a round
/// only adds to it, so the least is the nearest to what an undisturbed machine needs.
inline Figures median_and_least(const std::vector<Figures>& rounds) {
  Figures all;
  for (const auto& [name, first] : rounds.front().numbers) {
    std::vector<double> values;
    for (const Figures& round : rounds) values.push_back(round.numbers.at(name));
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    all.numbers[name] = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    all.numbers["least " + name] = values.front();
  }
  return all;
}

/// `round` measures one graph of this shape. The warm-up has the shape too, but not above 100,000 tasks.
template <class Round>
Figures over_rounds(const Request& request, Round&& round) {
  const auto shapes = request.rounds();
  round(shapes.front());
  std::vector<Figures> rounds;
  for (std::uint64_t left = std::max<std::uint64_t>(request.number("rounds", 1), 1); left > 0; --left)
    rounds.push_back(round(shapes.back()));
  return median_and_least(rounds);
}

}  // namespace dag::bench
