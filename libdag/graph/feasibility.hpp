#pragma once
// Whether a graph can end in time on so many lanes, from two bounds that cost one pass each. Between them
// only a schedule (or a simulation) can tell.

#include <cstdint>

#include "dag/detail/fragment.hpp"
#include "libdag/base/time.hpp"

namespace dag {

enum class Feasibility : std::uint8_t {
  impossible,  ///< even perfect use of all lanes would be late
  certain,     ///< any schedule that never leaves a lane idle beside a ready task is in time
  unknown,
};

struct Bounds {
  Duration critical_path{0};
  Duration work{0};        ///< stated durations times the lanes each task occupies
  bool all_stated = true;  ///< every task said what it takes
  bool one_lane = true;    ///< no task needs more than one
};

/// Of the submitted tasks alone; what they will spawn is not known. The fragment must have no cycle.
Bounds bounds(const detail::Fragment& fragment);

/// Late for sure: max(critical path, work / lanes) > deadline. In time for sure: work / lanes +
/// (1 - 1 / lanes) * critical path <= deadline (Graham 1969; list scheduling of one-lane tasks without
/// transfers).
Feasibility feasibility(const Bounds& bounds, std::uint32_t lanes, Duration deadline);

}  // namespace dag
