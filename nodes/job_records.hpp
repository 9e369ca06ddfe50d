#pragma once
// The records of the jobs whose cells are in this process, as far as `dag show` needs them. Cells record on
// their threads, the keeper asks on its own.

#include <map>
#include <mutex>
#include <optional>

#include "libdag/keeper/job_story.hpp"
#include "libdag/record/sink.hpp"

namespace dag {

class JobRecords final : public RecordSink {
 public:
  void record(const Record& record) override;
  void goes_on(const JobSoFar& job) override;
  /// Of a job that began and was not forgotten.
  std::optional<JobDetails> details(JobId job) const;
  void forget(JobId job);

 private:
  mutable std::mutex mutex_;
  std::map<JobId, JobStory> stories_;  ///< of jobs that began, until they end
};

}  // namespace dag
