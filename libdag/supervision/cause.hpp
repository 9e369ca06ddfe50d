#pragma once
// How a fault is told upwards: each level adds its own line and keeps those below. Decides the form of the
// chain; when a supervisor escalates is restart.hpp's.

#include <string>

#include "dag/error.hpp"
#include "libdag/supervision/restart.hpp"

namespace dag {

/// Lines a chain keeps. A longer one loses its middle: the root and the nearest causes say most.
inline constexpr std::size_t cause_lines_max = 16;

/// `outer`, with `cause` and all that caused it below: nearest first, one per line.
Error because(Error outer, const Error& cause);

/// What a supervisor that gives up tells its own supervisor about child `what`.
Error escalation(const std::string& what, const Intensity& intensity, const Error& cause);

}  // namespace dag
