#pragma once
// Copies of the parts of the nodes' journals that tell of a job.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"
#include "libdag/story/journal_view.hpp"

namespace dag::detail {

struct GatherLimits {
  Duration answers_within = answers_within_default;
  /// Larger journals are refused with disk_full.
  std::uint64_t bytes_max = ~std::uint64_t{0};
  /// Asked between two pieces; true ends the gathering.
  std::function<bool()> stops = [] { return false; };
  /// Only lines of kernels and output of processes.
  bool logs = false;
  /// Limits the tasks, as client::AskJournal does.
  TaskSelector which = {};
  /// Counts nodes: a node's size is known only once its part is here.
  OnProgress on_progress = {};
};

/// In place of a job: events outside jobs, such as nodes that join and leave.
inline constexpr JobId of_nodes{};

class GatheredJournals {
 public:
  /// Asks each node of the address's cluster for its part, which goes into a temporary directory that is
  /// removed with this object. No job: begins and ends of all jobs. Throws Failure: as connect(), job_unknown
  /// when no node has anything, disk_full, interrupted when `stops` is true.
  GatheredJournals(const std::string& address, std::optional<JobId> job, GatherLimits limits = {});
  ~GatheredJournals();
  GatheredJournals(const GatheredJournals&) = delete;
  GatheredJournals& operator=(const GatheredJournals&) = delete;

  /// For JournalView.
  std::vector<std::string> paths() const { return {directory_}; }
  /// Parts that nodes cannot give, for people.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  bool gather(const std::string& address, std::optional<JobId> job);
  bool gather_from(Cluster& node, const std::string& name, std::optional<JobId> job);

  const GatherLimits limits_;
  std::uint64_t bytes_ = 0;
  std::string directory_;
  std::vector<std::string> notices_;
};

}  // namespace dag::detail
