#pragma once
// What journals say of the tasks of a job that is over, or that nobody remembers: `dag explain` then.

#include <string>
#include <vector>

#include "libdag/client/past_tasks.hpp"
#include "tools/dag/options.hpp"

namespace dag::tool {

/// What was asked of `dag explain`.
struct Asked {
  JobId job;
  std::string task;  ///< empty: the whole job
  bool failed = false;
};

/// Of the whole job: how it ended, and what of it failed. Of tasks: each with its attempts. The exit status.
int explain_past(const Options& options, const Asked& what, const std::vector<std::string>& from);

// What the explanations of both kinds of tasks have in common.
std::string label(TaskId task, const std::string& name);
/// A line for each, behind `indent`.
std::string candidates_text(const std::vector<recorded::Candidate>& candidates, const std::string& indent);

}  // namespace dag::tool
