#pragma once
// A whole cluster, as its nodes say: each knows itself and the jobs that it leads.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/dag/options.hpp"

namespace dag::tool {

struct Seen {
  std::vector<NodeInfo> nodes;       ///< each as it says itself, if it answers
  std::vector<JobInfo> jobs;         ///< in the order of their numbers
  std::vector<std::string> missing;  ///< what is not in it: `n3: ...`
};

/// Connections to all nodes, which last as long as this.
class AllNodes {
 public:
  /// Throws Failure: as connect().
  explicit AllNodes(const Options& options);
  /// `stages`: of so many jobs that run, the first ones, what they know of their tasks, too. Throws Failure
  /// (cluster_lost, peer_unreachable) when no node answers.
  Seen look(std::size_t stages = 0);

 private:
  detail::Cluster& at(const std::string& address);
  std::vector<NodeInfo> nodes_of_any();

  std::map<std::string, std::unique_ptr<detail::Cluster>> links_;  ///< by where the nodes say they listen
  std::vector<std::string> known_;  ///< where nodes were, when they were seen last
};

}  // namespace dag::tool
