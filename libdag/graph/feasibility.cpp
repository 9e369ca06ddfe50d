// The two bounds of feasibility.hpp, in arithmetic that cannot overflow.

#include "libdag/graph/feasibility.hpp"

#include <algorithm>
#include <cmath>

#include "libdag/base/check.hpp"
#include "libdag/graph/rank.hpp"

namespace dag {

Bounds bounds(const detail::Fragment& fragment) {
  Bounds bounds;
  long double work = 0;  // its 64 bits hold whole nanoseconds exactly as far as a Duration reaches
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    const Policy& policy = fragment.policy(task);
    const double lanes = std::max(1.0, std::ceil(policy.needs.cpus));
    bounds.one_lane &= lanes == 1.0;
    bounds.all_stated &= policy.takes.has_value();
    if (policy.takes)
      work += static_cast<long double>(policy.takes->count()) * static_cast<long double>(lanes);
  }
  const auto largest = static_cast<long double>(Duration::max().count());
  bounds.work = work >= largest ? Duration::max() : Duration(static_cast<Duration::rep>(work));
  bounds.critical_path = rank(fragment, durations(fragment, Duration(0))).length;
  return bounds;
}

Feasibility feasibility(const Bounds& bounds, std::uint32_t lanes, Duration deadline) {
  DAG_CHECK(lanes > 0);
  const Duration area = bounds.work / lanes;  // rounded down
  if (std::max(bounds.critical_path, area) > deadline) return Feasibility::impossible;
  if (!bounds.all_stated || !bounds.one_lane) return Feasibility::unknown;
  const Duration rounded_up = sum(area, Duration(bounds.work % lanes == Duration(0) ? 0 : 1));
  const Duration graham = sum(rounded_up, bounds.critical_path - bounds.critical_path / lanes);
  return graham <= deadline ? Feasibility::certain : Feasibility::unknown;
}

}  // namespace dag
