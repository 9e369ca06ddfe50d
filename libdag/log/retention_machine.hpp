#pragma once
// For whom a node's log keeps its segments, and whose records are written once more at its end so that the
// oldest of them can go. All jobs of a node share the log: one that says nothing for days would keep the
// segment that it spoke in last, and all behind it, for ever.
//
// The bound: the log reaches back no further than `slack_bytes` and twice what it would take to write all
// jobs again. Twice, so that this never becomes most of what the disk does: a job is written again at most
// once while the log grows by that much, so what was handed over by jobs is at least as much.
//
// It ends: each job that is written again needs nothing of the oldest segment any more. Nobody waits for
// long: no more is given out until what was is on the disk, and that is one batch, or one large job.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libdag/log/log_machine.hpp"

namespace dag::log {

class RetentionMachine {
 public:
  explicit RetentionMachine(const LogOptions& options) : options_(options) {}

  /// All that it would take to write the job again, or so much more than before.
  void on_size(JobId job, std::size_t size_bytes);
  void on_more(JobId job, std::size_t size_bytes);
  /// Nobody will want it written again; what it has in the log counts until on_unneeded.
  void on_forgotten(JobId job);

  // ---- On the disk
  /// All that the job needs lies in this segment and behind it.
  void on_needed(JobId job, std::uint64_t segment);
  void on_unneeded(JobId job);

  /// Nothing: no job needs anything.
  std::optional<std::uint64_t> oldest() const;
  /// To be written again now, when the log is at `last`: of those that need the oldest segment.
  std::vector<JobId> take_to_write_again(std::uint64_t last);

 private:
  const LogOptions options_;
  std::map<JobId, std::size_t> size_bytes_;
  std::size_t all_bytes_ = 0;  ///< of these
  std::map<JobId, std::uint64_t> needed_;
  std::set<std::pair<std::uint64_t, JobId>> by_segment_;  ///< the same
  std::set<JobId> again_;                                 ///< given out, and not on the disk
};

}  // namespace dag::log
