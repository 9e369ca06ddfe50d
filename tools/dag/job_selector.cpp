#include "tools/dag/job_selector.hpp"

#include <algorithm>
#include <iostream>

#include "libdag/client/all_nodes.hpp"
#include "libdag/client/gathered_journals.hpp"
#include "libdag/client/nearest.hpp"
#include "libdag/story/history.hpp"
#include "tools/dag/views/progress.hpp"

namespace dag::tool {
namespace {

std::optional<JobId> newest_in(const std::vector<std::string>& paths) {
  detail::JournalView view(paths);
  const std::vector<detail::PastJob> jobs = read_history(view);
  const auto newest_one = std::max_element(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
    return a.began_unix_ns < b.began_unix_ns;  // Not known is before all.
  });
  return newest_one == jobs.end() ? std::nullopt : std::optional(newest_one->job);
}

using NamedJobs = std::vector<std::pair<std::string, JobId>>;
NamedJobs named_jobs(const Options& options, const std::vector<std::string>& from) {
  NamedJobs named;
  if (from.empty()) {
    for (const JobInfo& job : detail::AllNodes(address_of(options)).look().jobs)
      named.emplace_back(job.name, job.job);
  } else {
    detail::JournalView view(from);
    for (const detail::PastJob& job : read_history(view)) named.emplace_back(job.name, job.job);
  }
  return named;
}

JobId job_named(const std::string& text, const NamedJobs& known) {
  std::vector<JobId> found;
  std::vector<std::string_view> names;
  for (const auto& [name, job] : known) {
    names.push_back(name);
    if (name == text) found.push_back(job);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    const auto meant = detail::nearest(text, names);
    throw Failure({ErrorCode::job_unknown, "there is no job '" + shown(text) + "'",
                   (meant ? "did you mean '" + shown(std::string(*meant)) + "'? "
                          : std::string("write the number of the job, 7, or its name; ")) +
                       "`dag ls` lists all"});
  }
  constexpr std::size_t named_max = 5;
  std::string which;
  for (std::size_t i = found.size() - std::min(found.size(), named_max); i < found.size(); ++i)
    which += (which.empty() ? "" : ", ") + to_string(found[i]);
  throw Failure({ErrorCode::usage, std::to_string(found.size()) + " jobs have the name '" + shown(text) + "'",
                 "write one of " + which + "; `dag ls --name " + shown(text) + "` lists them"});
}

JobId newest_job(const Options& options, const std::vector<std::string>& from) {
  std::optional<JobId> found;
  if (!from.empty()) {
    found = newest_in(from);
  } else {
    const std::string address = address_of(options);
    const detail::Seen seen = detail::AllNodes(address).look();
    for (const std::string& missing : seen.missing) std::cerr << "dag: without " << shown(missing) << '\n';
    // Only journals know when an ended job began.
    std::optional<Duration> age;
    for (const JobInfo& job : seen.jobs) {
      if (has_ended(job.phase) || (age && job.age >= *age)) continue;
      age = job.age;
      found = job.job;
    }
    if (!found) {
      try {
        found = newest_in(detail::GatheredJournals(address, std::nullopt).paths());
      } catch (const Failure& failure) {
        if (failure.error().code != ErrorCode::job_unknown) throw;
        if (!seen.jobs.empty()) found = seen.jobs.back().job;
      }
    }
  }
  if (!found) throw Failure({ErrorCode::job_unknown, "there has been no job yet"});
  return *found;
}

}  // namespace

std::shared_ptr<std::string> add_job(CLI::App& command) {
  auto job = std::make_shared<std::string>();
  command
      .add_option(
          "job", *job,
          "job number (job7, 7 or job2.7), job name, or last: the newest running job, else the newest job")
      ->required();
  return job;
}

JobId job_of(const std::string& text) {
  if (const auto job = parse_job_id(text)) return *job;
  throw Failure(
      {ErrorCode::usage, "'" + shown(text) + "' is not a job",
       "write job7 or 7; job2.7 or 2.7 for a job submitted to node 2; last for the newest running job, "
       "else the newest job. `dag ls` lists the jobs"});
}

JobId job_of(const std::string& text, const Options& options, const std::vector<std::string>& from) {
  if (text == newest_word) return newest_job(options, from);
  if (const auto job = parse_job_id(text)) return *job;
  std::optional<NamedJobs> known;
  try {
    known = named_jobs(options, from);
  } catch (const Failure&) {  // Without a cluster nobody knows its name.
  }
  return known ? job_named(text, *known) : job_of(text);
}

JobAndTask job_and_task_of(const std::string& text, const Options& options,
                           const std::vector<std::string>& from) {
  const std::size_t slash = text.find('/');
  JobAndTask what{job_of(text.substr(0, slash), options, from), {}};
  if (slash == std::string::npos) return what;
  what.task = text.substr(slash + 1);
  if (what.task.empty()) {
    throw Failure({ErrorCode::usage, "there is no task after the / of '" + shown(text) + "'",
                   "write job7/NAME, or job7/41 for a number that `dag explain job7` shows"});
  }
  return what;
}

}  // namespace dag::tool
