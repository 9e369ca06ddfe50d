#pragma once
// Bounds on the end of a graph on so many lanes, from two values that cost a pass each. Between the bounds
// only a schedule (or a simulation) can tell.

#include <cstdint>

#include "dag/detail/fragment.hpp"
#include "libdag/base/time.hpp"

namespace dag {

enum class Feasibility : std::uint8_t {
  impossible,  ///< late even if no lane is ever idle
  certain,     ///< in time with any schedule that leaves no lane idle beside a ready task
  unknown,
};

struct Bounds {
  Duration critical_path{0};
  Duration work{0};        ///< stated durations times the lanes of each task
  bool all_stated = true;  ///< every task states its duration
  bool one_lane = true;    ///< no task needs several lanes
};

/// For the submitted tasks only, since spawned ones are unknown. The fragment must have no cycle.
Bounds bounds(const detail::Fragment& fragment);

/// Late for sure: max(critical path, work / lanes) > deadline. In time for sure: work / lanes +
/// (1 - 1 / lanes) * critical path <= deadline (Graham 1969; list scheduling of one-lane tasks without
/// transfers).
Feasibility feasibility(const Bounds& bounds, std::uint32_t lanes, Duration deadline);

}  // namespace dag
