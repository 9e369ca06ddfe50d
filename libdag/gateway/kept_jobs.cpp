#include "libdag/gateway/kept_jobs.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"

namespace dag {

KeptJob* KeptJobs::find(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return nullptr;
  if (awake_.insert(id).second) {
    if (const auto until = found->second.until()) due_.erase({*until, id});
  }
  return &found->second;
}

const KeptJob* KeptJobs::peek(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

KeptJob& KeptJobs::add(JobId id) {
  awake_.insert(id);
  return jobs_[id];
}

void KeptJobs::erase(JobId id) {
  if (find(id) == nullptr) return;
  awake_.erase(id);
  jobs_.erase(id);
}

KeptJob& KeptJobs::at(JobId awake) {
  DAG_CHECK(awake_.contains(awake));
  return jobs_.at(awake);
}

std::vector<JobId> KeptJobs::let_sleep() {
  std::vector<JobId> asleep;
  for (const JobId id : awake_) {
    const KeptJob& job = jobs_.at(id);
    if (!job.may_sleep()) continue;
    asleep.push_back(id);
    if (const auto until = job.until()) due_.emplace(*until, id);
  }
  for (const JobId id : asleep) awake_.erase(id);
  return asleep;
}

void KeptJobs::wake_due(Instant now) {
  while (!due_.empty() && due_.begin()->first <= now) find(due_.begin()->second);
}

std::optional<Instant> KeptJobs::due() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

bool KeptJobs::is_sound() const {
  std::set<std::pair<Instant, JobId>> due;
  for (const auto& [id, job] : jobs_) {
    if (awake_.contains(id)) continue;
    if (!job.may_sleep()) return false;
    if (const auto until = job.until()) due.emplace(*until, id);
  }
  return due == due_ &&
         std::all_of(awake_.begin(), awake_.end(), [&](JobId id) { return jobs_.contains(id); });
}

}  // namespace dag
