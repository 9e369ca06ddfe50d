#include "libdag/keeper/messages.hpp"

namespace dag {

std::string_view name(JobPhase phase) {
  switch (phase) {
    case JobPhase::starting:
      return "starting";
    case JobPhase::running:
      return "running";
    case JobPhase::finished:
      return "finished";
    case JobPhase::failed:
      return "failed";
    case JobPhase::cancelled:
      return "cancelled";
    case JobPhase::no_quorum:
      return "no quorum";
    case JobPhase::recovering:
      return "recovering";
  }
  return "?";
}

std::string phase_text(JobPhase phase, const JobCounts& counts) {
  std::string text(name(phase));
  if (phase != JobPhase::finished || counts.tolerated == 0) return text;
  return text + ", " + std::to_string(counts.tolerated) + " tolerated failure" +
         (counts.tolerated == 1 ? "" : "s");
}

bool has_ended(JobPhase phase) {
  return phase == JobPhase::finished || phase == JobPhase::failed || phase == JobPhase::cancelled;
}

static std::uint64_t known_tasks(const JobCounts& counts) {
  return counts.open + counts.finished + counts.failed + counts.skipped + counts.cancelled;
}

JobCounts counts_of_whole(const JobInfo& job) {
  JobCounts counts = job.counts;
  if (states_its_total(job)) counts.open += job.total - known_tasks(counts);
  return counts;
}

bool states_its_total(const JobInfo& job) {
  return !has_ended(job.phase) && job.total > 0 && job.total >= known_tasks(job.counts);
}

bool JobFilter::takes(const JobInfo& job) const {
  if (failed && job.phase != JobPhase::failed && job.counts.failed == 0) return false;
  if (phase && job.phase != *phase) return false;
  return name.empty() || job.name.find(name) != std::string::npos;
}

std::uint64_t JobFilter::choose(std::vector<JobInfo>& jobs) const {
  std::erase_if(jobs, [this](const JobInfo& job) { return !takes(job); });
  if (first == 0 || jobs.size() <= first) return 0;
  std::stable_sort(jobs.begin(), jobs.end(), is_listed_before);
  const std::uint64_t beyond = jobs.size() - first;
  jobs.resize(first);
  return beyond;
}

bool is_listed_before(const JobInfo& a, const JobInfo& b) {
  if (has_ended(a.phase) != has_ended(b.phase)) return has_ended(b.phase);
  return a.job > b.job;
}

}  // namespace dag
