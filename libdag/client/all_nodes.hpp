#pragma once
// A whole cluster, as its nodes say: each knows itself and the jobs that it leads.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"
#include "libdag/client/links.hpp"

namespace dag::detail {

struct Seen {
  std::vector<NodeInfo> nodes;         ///< each as it says itself, if it answers
  std::vector<JobInfo> jobs;           ///< in the order of their numbers
  std::uint64_t jobs_beyond = 0;       ///< that JobFilter::first has left out
  std::map<JobId, ProcessId> leaders;  ///< which node said it of a job
  std::vector<std::string> missing;    ///< what is not in it: `n3: ...`
  std::vector<NodeLink> links;         ///< those in trouble first: the first ones
  std::size_t links_beyond = 0;        ///< that are not among them
};
/// In a large cluster there are many.
inline constexpr std::size_t links_seen_max = 200;

/// Connections to all nodes, which last as long as this.
class AllNodes {
 public:
  /// Throws Failure: as connect().
  explicit AllNodes(const std::string& address, Duration answers_within = answers_within_default);
  /// `stages`: of so many jobs that run, the first ones, what they know of their tasks, too. `which`: of the
  /// jobs only these. Throws Failure (cluster_lost, peer_unreachable) when no node answers.
  Seen look(std::size_t stages = 0, const JobFilter& which = {});
  /// One job of those that were just seen, with what its leader knows of its tasks. Throws Failure:
  /// job_unknown, and as Cluster::jobs.
  JobInfo job(JobId job, const Seen& seen);

 private:
  Cluster& at(const std::string& address);
  std::vector<NodeInfo> nodes_of_any();

  const Duration answers_within_;
  std::map<std::string, std::unique_ptr<Cluster>> links_;  ///< by where the nodes say they listen
  std::vector<std::string> known_;                         ///< where nodes were, when they were seen last
};

}  // namespace dag::detail
