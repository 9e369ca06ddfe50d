#pragma once
// `dag node probe`: checks that nodes answer, how fast, and that clients may be sent there.

#include <optional>

#include "tools/dag/options.hpp"

namespace dag::tool {

/// Probes one node, or all that are up. exit_ok: each answers and is ready; exit_unknown: there is no such
/// node; else exit_work_failed.
int probe(const Options& options, std::optional<ProcessId> only, std::uint32_t times);

}  // namespace dag::tool
