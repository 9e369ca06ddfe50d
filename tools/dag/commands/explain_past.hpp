#pragma once
// The journals' account of tasks that have ended: `dag explain` of a job that is over, or forgotten, and of
// such tasks of a running job.

#include <string>
#include <vector>

#include "libdag/story/past_tasks.hpp"
#include "tools/dag/options.hpp"

namespace dag::tool {

/// The question to `dag explain`.
struct Asked {
  JobId job;
  std::string task;  ///< empty: the whole job
  bool failed = false;
};

/// Prints a whole job's end and failures, or each task with its attempts. Returns the exit status.
int explain_past(const Options& options, const Asked& what, const std::vector<std::string>& from);

/// The first of these tasks, each with its attempts.
struct Stories {
  std::vector<detail::PastTask> tasks;  ///< in the order of their ids
  std::uint64_t beyond = 0;             ///< number of further tasks
  std::vector<std::string> notices;     ///< unreadable parts, for people
};
Stories stories_of(const Options& options, JobId job, const TaskSelector& which,
                   const std::vector<std::string>& from);
/// When the task could begin, and the later events. `open`: the text for an attempt without a known end.
std::string story_text(const detail::PastTask& task, const std::string& indent, const char* open);

// Shared by the explanations of both kinds of tasks.
std::string label(TaskId task, const std::string& name);
/// A line for each, behind `indent`.
std::string candidates_text(const std::vector<event::Candidate>& candidates, const std::string& indent);

}  // namespace dag::tool
