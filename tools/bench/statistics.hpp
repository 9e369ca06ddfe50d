#pragma once
// The summary of repeated measurements: the middle and the distance of the others from it. No means: one
// disturbed repetition would move them.

#include <cstddef>
#include <vector>

namespace dag::bench {

struct Summary {
  std::size_t count = 0;
  double minimum = 0, lower_quartile = 0, median = 0, upper_quartile = 0, maximum = 0;
};

/// The value below which `share` of the sorted values lie, between neighbours in proportion.
double quantile(const std::vector<double>& sorted, double share);

/// Takes at least one value.
Summary summarise(std::vector<double> values);

}  // namespace dag::bench
