#include "tools/dag/job_selector.hpp"

#include <algorithm>

#include "libdag/client/all_nodes.hpp"
#include "libdag/client/gathered_journals.hpp"
#include "libdag/client/history.hpp"
#include "tools/dag/progress.hpp"

namespace dag::tool {
namespace {

constexpr const char* newest = "last";

/// As the journals say, which know when each job began.
std::optional<JobId> newest_in_journals(const std::string& address) {
  try {
    const detail::GatheredJournals journals(address, std::nullopt);
    detail::JournalView view(journals.paths());
    const std::vector<detail::PastJob> jobs = read_history(view);
    if (!jobs.empty()) return jobs.back().job;
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::job_unknown) throw;
  }
  return std::nullopt;
}

JobId newest_job(const Options& options) {
  const std::string address = address_of(options);
  if (const auto job = newest_in_journals(address)) return *job;
  const std::vector<JobInfo> jobs = detail::AllNodes(address).look().jobs;
  if (jobs.empty()) throw Failure({ErrorCode::job_unknown, "there was no job yet"});
  // Of one that has ended it is not known since when.
  const auto is_older = [](const JobInfo& a, const JobInfo& b) {
    const bool a_runs = !has_ended(a.phase), b_runs = !has_ended(b.phase);
    if (a_runs != b_runs) return b_runs;
    return a_runs ? a.age > b.age : a.job.count() < b.job.count();
  };
  return std::max_element(jobs.begin(), jobs.end(), is_older)->job;
}

}  // namespace

std::shared_ptr<std::string> add_job(CLI::App& command) {
  auto job = std::make_shared<std::string>();
  command.add_option("job", *job, "such as job7, 7, or job2.7; last: the newest one")->required();
  return job;
}

JobId job_of(const std::string& text) {
  if (const auto job = parse_job_id(text)) return *job;
  throw Failure({ErrorCode::usage, "'" + shown(text) + "' is not a job",
                 "write job7 or 7; job2.7 or 2.7 where its record is at node 2; last for the newest one. "
                 "`dag ls` lists them"});
}

JobId job_of(const std::string& text, const Options& options) {
  return text == newest ? newest_job(options) : job_of(text);
}

JobAndTask job_and_task_of(const std::string& text, const Options& options) {
  const std::size_t slash = text.find('/');
  JobAndTask what{job_of(text.substr(0, slash), options), {}};
  if (slash == std::string::npos) return what;
  what.task = text.substr(slash + 1);
  if (what.task.empty()) {
    throw Failure({ErrorCode::usage, "there is no task behind the / of '" + shown(text) + "'",
                   "write job7/NAME, or job7/41 for a number that `dag explain job7` shows"});
  }
  return what;
}

}  // namespace dag::tool
