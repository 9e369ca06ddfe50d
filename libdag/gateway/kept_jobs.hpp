#pragma once
// All jobs of a gateway. A job is awake as long as nodes that come and go can change it, or time other than
// KeptJob::until; else it sleeps. Walks visit awake jobs only, so jobs at rest cost memory and no time,
// however many there are.
//
// find() wakes the job, for changes; let_sleep() ends that.

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libdag/gateway/kept_job.hpp"

namespace dag {

class KeptJobs {
 public:
  /// Null: no such job.
  KeptJob* find(JobId id);
  /// The same without waking the job.
  const KeptJob* peek(JobId id) const;
  KeptJob& add(JobId id);
  void erase(JobId id);
  const std::map<JobId, KeptJob>& all() const { return jobs_; }

  const std::set<JobId>& awake() const { return awake_; }
  KeptJob& at(JobId awake);
  const KeptJob& at(JobId id) const { return jobs_.at(id); }
  /// Puts jobs to sleep that may sleep, and returns them.
  std::vector<JobId> let_sleep();
  /// Wakes the jobs whose time has come.
  void wake_due(Instant now);
  /// The next time for wake_due.
  std::optional<Instant> due() const;
  /// For tests: true if the indices match the jobs.
  bool is_sound() const;

 private:
  std::map<JobId, KeptJob> jobs_;
  std::set<JobId> awake_;
  std::set<std::pair<Instant, JobId>> due_;  ///< until() of sleeping jobs
};

}  // namespace dag
