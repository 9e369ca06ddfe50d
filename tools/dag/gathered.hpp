#pragma once
// The journals that a command reads: those at the paths that the user names, or what the nodes of a cluster
// have of a job, brought here.

#include <optional>
#include <string>
#include <vector>

#include "tools/dag/options.hpp"

namespace dag::tool {

class GatheredJournals {
 public:
  /// Of `paths`, if there are some. Else each node of the cluster is asked for its part, which comes into a
  /// temporary directory that goes with this; what a node cannot give is said on stderr. No job: when jobs
  /// began and ended. Throws Failure: as connect(), usage when no node has anything.
  GatheredJournals(const Options& options, std::optional<JobId> job, const std::vector<std::string>& paths);
  ~GatheredJournals();
  GatheredJournals(const GatheredJournals&) = delete;
  GatheredJournals& operator=(const GatheredJournals&) = delete;

  /// For detail::JournalView.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  bool gather_from(detail::Cluster& node, const std::string& name, std::optional<JobId> job);

  std::vector<std::string> paths_;
  std::string directory_;  ///< of what was gathered
};

/// --from PATH..., for a command that can do without a cluster.
std::shared_ptr<std::vector<std::string>> add_from(CLI::App& command);

}  // namespace dag::tool
