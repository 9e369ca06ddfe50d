#pragma once
// Decides which segments a node's log keeps, and for which jobs records are written again at its end so that
// the oldest segment can be removed. All jobs of a node share the log: a job that writes nothing for days
// would keep its last segment, and all later ones, for ever.
//
// The bound: the log is no longer than `slack_bytes` and twice the size of all jobs written anew. Twice, so
// that rewriting is never most of the disk's work: a job is rewritten at most once while the log grows by
// that much, so at least as many bytes come from jobs.
//
// Why this ends: a rewritten job needs nothing of the oldest segment any more. No job waits for long: further
// jobs are rewritten when the last are on the disk, and these are a batch, or a large job.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libdag/log/log_machine.hpp"

namespace dag::log {

class RetentionMachine {
 public:
  explicit RetentionMachine(const LogOptions& options) : options_(options) {}

  /// The size of the job's records when written anew, or the growth of that size.
  void on_size(JobId job, std::size_t size_bytes);
  void on_more(JobId job, std::size_t size_bytes);
  /// The job is not rewritten any more; its records in the log count until on_unneeded.
  void on_forgotten(JobId job);

  // ---- On the disk
  /// All records that the job needs are in this segment and later ones.
  void on_needed(JobId job, std::uint64_t segment);
  void on_unneeded(JobId job);

  /// None: no job needs anything.
  std::optional<std::uint64_t> oldest() const;
  /// Jobs to rewrite now, when the log is at `last`: some of those that need the oldest segment.
  std::vector<JobId> take_to_write_again(std::uint64_t last);

 private:
  const LogOptions options_;
  std::map<JobId, std::size_t> size_bytes_;
  std::size_t all_bytes_ = 0;  ///< of `jobs_`
  std::map<JobId, std::uint64_t> needed_;
  std::set<std::pair<std::uint64_t, JobId>> by_segment_;  ///< the same, sorted
  std::set<JobId> again_;                                 ///< being rewritten, and not on the disk
};

}  // namespace dag::log
