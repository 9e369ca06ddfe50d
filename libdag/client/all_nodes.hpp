#pragma once
// A view of a whole cluster, put together from its nodes: each knows itself and the jobs that it leads.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"
#include "libdag/client/links.hpp"

namespace dag::detail {

struct Seen {
  std::vector<NodeInfo> nodes;         ///< each by its own word, if it answers
  std::vector<JobInfo> jobs;           ///< in the order of their numbers
  std::uint64_t jobs_beyond = 0;       ///< jobs that JobFilter::first left out
  std::map<JobId, ProcessId> leaders;  ///< the node that reported the job
  std::vector<std::string> missing;    ///< gaps of this view: `n3: ...`
  std::vector<NodeLink> links;         ///< links in trouble first; links_seen_max of them
  std::size_t links_beyond = 0;        ///< links that are not listed
};
/// A large cluster has too many links to list.
inline constexpr std::size_t links_seen_max = 200;

/// Connections to all nodes, open until the object is destroyed.
class AllNodes {
 public:
  /// Throws Failure: as connect().
  explicit AllNodes(const std::string& address, Duration answers_within = answers_within_default);
  /// Looks at all nodes. `stages`: number of running jobs whose leaders also report on tasks. `which`: limits
  /// the jobs. Throws Failure (cluster_lost, peer_unreachable) when no node answers.
  Seen look(std::size_t stages = 0, const JobFilter& which = {});
  /// A job of `seen`, with its leader's report on tasks. Throws Failure: job_unknown, and as
  /// Cluster::jobs.
  JobInfo job(JobId job, const Seen& seen);

 private:
  Cluster& at(const std::string& address);
  std::vector<NodeInfo> nodes_of_any();

  const Duration answers_within_;
  std::map<std::string, std::unique_ptr<Cluster>> links_;  ///< by the address at which the node listens
  std::vector<std::string> known_;                         ///< addresses of the nodes seen last
};

}  // namespace dag::detail
