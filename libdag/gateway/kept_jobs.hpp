#pragma once
// All jobs that a gateway keeps. A job is awake as long as nodes that come and go can change it, or time
// other than KeptJob::until; else it sleeps. Walks go over those that are awake, so jobs at rest cost memory
// and nothing else, however many there are.
//
// A job that is found, to be changed, is awake; let_sleep() ends that.

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libdag/gateway/kept_job.hpp"

namespace dag {

class KeptJobs {
 public:
  /// Null: there is none.
  KeptJob* find(JobId id);
  /// The same, and it sleeps on.
  const KeptJob* peek(JobId id) const;
  KeptJob& add(JobId id);
  void erase(JobId id);
  const std::map<JobId, KeptJob>& all() const { return jobs_; }

  const std::set<JobId>& awake() const { return awake_; }
  KeptJob& at(JobId awake);
  const KeptJob& at(JobId id) const { return jobs_.at(id); }
  /// Those that have fallen asleep.
  std::vector<JobId> let_sleep();
  /// Wakes those whose time has come.
  void wake_due(Instant now);
  /// When that is.
  std::optional<Instant> due() const;
  /// For tests: whether what it remembers of the jobs is as they are.
  bool is_sound() const;

 private:
  std::map<JobId, KeptJob> jobs_;
  std::set<JobId> awake_;
  std::set<std::pair<Instant, JobId>> due_;  ///< until() of those that sleep
};

}  // namespace dag
