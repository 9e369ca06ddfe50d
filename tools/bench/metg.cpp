#include "tools/bench/metg.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dag::bench {

double rate(const SweepPoint& point, const SweepGraph& graph) {
  return point.iterations * graph.tasks / point.seconds;
}

Metg metg(std::vector<SweepPoint> points, const SweepGraph& graph, double best_rate) {
  if (points.empty()) throw std::invalid_argument("no runs, no METG");
  std::sort(points.begin(), points.end(),
            [](const SweepPoint& a, const SweepPoint& b) { return a.iterations > b.iterations; });
  const auto efficiency = [&](const SweepPoint& point) { return rate(point, graph) / best_rate; };
  const auto granularity = [&](const SweepPoint& point) { return point.seconds * graph.cores / graph.tasks; };
  std::size_t shortest = points.size();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (efficiency(points[i]) >= 0.5) shortest = i;
  }
  if (shortest == points.size()) return {granularity(points.front()), false};
  if (shortest + 1 == points.size()) return {granularity(points.back()), true};
  const SweepPoint &above = points[shortest], &below = points[shortest + 1];
  const double from = std::log(efficiency(above)), to = std::log(std::max(efficiency(below), 1e-9));
  const double share = (from - std::log(0.5)) / (from - to);
  const double start = std::log(granularity(above)), end = std::log(granularity(below));
  return {std::exp(start + (end - start) * share), true};
}

}  // namespace dag::bench
