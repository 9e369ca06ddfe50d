#pragma once
// The tasks that a node runs, and the reasons that keep others from it: `dag explain n2`.

#include <optional>
#include <string>

#include "tools/dag/options.hpp"

namespace dag::tool {

/// n2; empty: it is not how a node is written.
std::optional<ProcessId> node_named(const std::string& text);
int explain_node(const Options& options, ProcessId node);

}  // namespace dag::tool
