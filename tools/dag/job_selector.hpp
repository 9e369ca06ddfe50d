#pragma once
// Selects a command's job and tasks, as people write them: job7, 7, job2.7, last; job7/train, 7/41,
// 7/train/3-9.

#include <memory>
#include <string>
#include <vector>

#include "tools/dag/options.hpp"

namespace dag::tool {

/// The job that a command is about.
std::shared_ptr<std::string> add_job(CLI::App& command);
/// Throws Failure(usage) with the form of a job's name.
JobId job_of(const std::string& text);
inline constexpr const char* newest_word = "last";
/// Takes `last`, too: the running job that was submitted last; if none runs, the one that began last, by the
/// journals. Or the name of a job, if no other one has it. With `from`: only jobs in those journals. Throws
/// Failure: job_unknown when there is none, usage when there are several.
JobId job_of(const std::string& text, const Options& options, const std::vector<std::string>& from = {});

struct JobAndTask {
  JobId job;
  std::string task;  ///< as detail::selector_of takes it; empty: the whole job
};
JobAndTask job_and_task_of(const std::string& text, const Options& options,
                           const std::vector<std::string>& from = {});

}  // namespace dag::tool
