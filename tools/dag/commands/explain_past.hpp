#pragma once
// What journals say of tasks that have ended: `dag explain` of a job that is over, or that nobody remembers,
// and of such tasks of a job that runs.

#include <string>
#include <vector>

#include "libdag/story/past_tasks.hpp"
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

/// Of the first of these tasks, each with its attempts.
struct Stories {
  std::vector<detail::PastTask> tasks;  ///< in the order of their ids
  std::uint64_t beyond = 0;             ///< so many more
  std::vector<std::string> notices;     ///< what cannot be read, for people
};
Stories stories_of(const Options& options, JobId job, const TaskSelector& which,
                   const std::vector<std::string>& from);
/// When it could begin, and what came then. `open`: what is said of an attempt whose end is not told.
std::string story_text(const detail::PastTask& task, const std::string& indent, const char* open);

// What the explanations of both kinds of tasks have in common.
std::string label(TaskId task, const std::string& name);
/// A line for each, behind `indent`.
std::string candidates_text(const std::vector<recorded::Candidate>& candidates, const std::string& indent);

}  // namespace dag::tool
