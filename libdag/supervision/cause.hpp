#pragma once
// The chain of a fault's causes: each level adds its own line and keeps those below. Decides the form of the
// chain; restart.hpp decides when a supervisor escalates.

#include <string>

#include "dag/error.hpp"
#include "libdag/supervision/restart.hpp"

namespace dag {

/// Limit of lines in a chain. A longer chain loses its middle: the root and the nearest causes say most.
inline constexpr std::size_t cause_lines_max = 16;

/// `outer`, with `cause` and all its causes below: nearest first, one per line.
Error because(Error outer, const Error& cause);

/// Report of a supervisor that gives up about child `what`, to its own supervisor.
Error escalation(const std::string& what, const Intensity& intensity, const Error& cause);

}  // namespace dag
