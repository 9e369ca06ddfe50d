#pragma once
// The journals that a command reads: those at the paths that the user names, or a job's journals of all nodes
// of a cluster.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libdag/client/gathered_journals.hpp"
#include "tools/dag/options.hpp"

namespace dag::tool {

class ChosenJournals {
 public:
  /// Opens those at `paths`, if there are some; else gathers them from the cluster. Missing parts are named
  /// on stderr. Throws Failure: as GatheredJournals.
  ChosenJournals(const Options& options, std::optional<JobId> job, const std::vector<std::string>& paths,
                 detail::GatherLimits limits = {});

  /// For detail::JournalView.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::vector<std::string> paths_;
  std::unique_ptr<detail::GatheredJournals> gathered_;
};

/// --from PATH..., for a command that can do without a cluster.
std::shared_ptr<std::vector<std::string>> add_from(CLI::App& command);

}  // namespace dag::tool
