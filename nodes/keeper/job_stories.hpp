#pragma once
// The records of the jobs whose cells are in this process, as far as `dag show` and monitoring need them.
// Cells record on their threads; readers ask on their own.

#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "libdag/journal/sink.hpp"
#include "libdag/keeper/job_story.hpp"

namespace dag {

class JobStories final : public EventSink {
 public:
  static constexpr std::size_t outcomes = static_cast<std::size_t>(Outcome::cancelled) + 1;

  void record(const JournalEvent& record) override;
  void goes_on(const JobSoFar& job) override;
  /// The details of a job that began and was not forgotten.
  std::optional<JobDetails> details(JobId job) const;
  void forget(JobId job);
  /// The counts of all such jobs, without single tasks.
  std::map<JobId, TaskCounts> all_counts() const;
  /// How many tasks were settled while this process led their jobs' records, by their outcome.
  std::array<std::uint64_t, outcomes> settled() const;

 private:
  mutable std::mutex mutex_;
  std::map<JobId, JobStory> stories_;  ///< of jobs that began, until they end
  std::array<std::uint64_t, outcomes> settled_{};
};

}  // namespace dag
