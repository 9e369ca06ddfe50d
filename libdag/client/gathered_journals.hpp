#pragma once
// What the nodes of a cluster have in their journals of a job, brought here.

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
  /// More is refused: disk_full.
  std::uint64_t bytes_max = ~std::uint64_t{0};
  /// Asked between two pieces: it is not wanted any more.
  std::function<bool()> stops = [] { return false; };
  /// Only what kernels said and processes printed.
  bool logs = false;
  /// Of tasks only these, as client::AskJournal has it.
  TaskSelector which = {};
  /// Told by nodes: what each has is known when it is here.
  OnProgress on_progress = {};
};

/// In place of a job: what belongs to none, such as nodes that come and go.
inline constexpr JobId of_nodes{};

class GatheredJournals {
 public:
  /// Each node of the cluster that a node at this address belongs to is asked for its part, which comes into
  /// a temporary directory that goes with this. No job: when jobs began and ended. Throws Failure: as
  /// connect(), job_unknown when no node has anything, disk_full, interrupted when it stops.
  GatheredJournals(const std::string& address, std::optional<JobId> job, GatherLimits limits = {});
  ~GatheredJournals();
  GatheredJournals(const GatheredJournals&) = delete;
  GatheredJournals& operator=(const GatheredJournals&) = delete;

  /// For JournalView.
  std::vector<std::string> paths() const { return {directory_}; }
  /// What nodes cannot give, for people.
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
