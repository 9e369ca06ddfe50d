#pragma once
// The metrics of nodes, as served by /metrics.

#include <sstream>
#include <string>

namespace cluster {

/// The sum of all values of that family.
inline double sum_of(const std::string& metrics, const std::string& begin) {
  double sum = 0;
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begin)) sum += std::stod(line.substr(line.rfind(' ') + 1));
  }
  return sum;
}

}  // namespace cluster
