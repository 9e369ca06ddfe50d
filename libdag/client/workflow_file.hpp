#pragma once
// Graphs of other programs for the tools, which see no further into the library than this folder.

#include <string>

#include "libdag/graph/workflow.hpp"

namespace dag {

/// Reads a whole file; usage when there is none that can be read, or it is larger than 1 GiB.
Result<std::string> read_text_file(const std::string& path);

/// WfCommons JSON, Pegasus DAX or a Standard Task Graph, as `read_workflow` has them; errors begin with the
/// file.
Result<Workflow> workflow_in(const std::string& path, const std::string& text);

}  // namespace dag
