#include "tools/bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dag::bench {

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) throw std::invalid_argument("no values, no quantile");
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

Summary summarise(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.size(),         quantile(values, 0),    quantile(values, 0.25),
          quantile(values, 0.5), quantile(values, 0.75), quantile(values, 1)};
}

}  // namespace dag::bench
