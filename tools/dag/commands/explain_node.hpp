#pragma once
// What a node is busy with, and what keeps tasks from it: `dag explain n2`.

#include <optional>
#include <string>

#include "tools/dag/options.hpp"

namespace dag::tool {

/// n2; empty: it is not how a node is written.
std::optional<ProcessId> node_named(const std::string& text);
int explain_node(const Options& options, ProcessId node);

}  // namespace dag::tool
