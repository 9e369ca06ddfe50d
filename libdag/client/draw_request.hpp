#pragma once
// `dag graph JOB` starts the job with DAG_DRAW set: the first submission is drawn instead of run.

#include <string>

#include "dag/detail/fragment.hpp"

namespace dag::detail {

/// When DAG_DRAW names a file, or is `-`, stdout: writes the graph there, in the form DAG_DRAW_FORMAT (dot,
/// svg, mmd or json), and ends the process with status 0, or 1 with a message when the file cannot be
/// written. Otherwise does nothing.
void draw_if_asked(const Fragment& fragment, const std::string& title);

}  // namespace dag::detail
