#pragma once
// Graphs of other programs, out of files, for the tools.

#include <string>

#include "libdag/workflows/workflow.hpp"

namespace dag {

/// Reads a whole file; usage when it cannot be read, or is larger than 1 GiB.
Result<std::string> read_text_file(const std::string& path);

/// WfCommons JSON, Pegasus DAX or a Standard Task Graph, as `read_workflow` has them; errors begin with the
/// file.
Result<Workflow> workflow_in(const std::string& path, const std::string& text);

}  // namespace dag
