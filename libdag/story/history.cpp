#include "libdag/story/history.hpp"

#include <algorithm>
#include <map>

namespace dag::detail {

std::string end_text(const PastJob& job) {
  if (!job.over) return "not over";
  if (job.over->stopped) return "stopped";
  if (job.verdict.cancelled) return "cancelled";
  if (job.over->failed > job.verdict.tolerated) return "failed";
  return job.over->cancelled > 0 ? "cancelled" : "finished";
}

std::optional<Duration> took(const PastJob& job) {
  if (!job.began_unix_ns || !job.over_unix_ns) return std::nullopt;
  return Duration(*job.over_unix_ns - *job.began_unix_ns);
}

std::vector<PastJob> read_history(JournalView& view) {
  std::map<JobId, std::size_t> place_of;
  std::vector<PastJob> jobs;
  const auto job_of = [&](JobId job) -> PastJob& {
    const auto [place, is_new] = place_of.try_emplace(job, jobs.size());
    if (is_new) jobs.emplace_back().job = job;
    return jobs[place->second];
  };
  while (const auto entry = view.next()) {
    if (const auto* began = std::get_if<event::JobBegan>(&entry->record.what)) {
      PastJob& job = job_of(entry->record.job);
      if (job.over) {
        // A node that had forgotten all gave the number again.
        place_of.erase(entry->record.job);
        PastJob& again = job_of(entry->record.job);
        again.name = began->name;
        again.tasks = began->tasks;
        again.began_unix_ns = entry->unix_ns;
        continue;
      }
      job.name = began->name;
      job.tasks = began->tasks;
      if (!job.began_unix_ns) job.began_unix_ns = entry->unix_ns;
    } else if (const auto* verdict = std::get_if<event::JobVerdict>(&entry->record.what)) {
      job_of(entry->record.job).verdict = *verdict;
    } else if (const auto* over = std::get_if<event::JobOver>(&entry->record.what)) {
      PastJob& job = job_of(entry->record.job);
      job.over = *over;
      job.over_unix_ns = entry->unix_ns;
    }
  }
  return jobs;
}

}  // namespace dag::detail
