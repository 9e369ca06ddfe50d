#pragma once
// A connection to a node of a cluster, for the commands of `dag`. nodes/ defines it; declared here so that
// tools need no header of the layers below.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libdag/keeper/messages.hpp"
#include "libdag/keeper/node_room.hpp"

namespace dag::detail {

inline constexpr Duration connect_within_default = std::chrono::seconds(5);
/// A node that keeps its connection but has not answered after this time counts as gone.
inline constexpr Duration answers_within_default = std::chrono::seconds(10);

/// Each call waits for the node's answer. Throws Failure: the node's error, or cluster_lost when the node is
/// gone or has not answered in time (wait() goes on as long as its limit allows).
class Cluster {
 public:
  virtual ~Cluster() = default;

  /// All nodes that this node knows, itself first.
  virtual std::vector<NodeInfo> nodes() = 0;
  /// The jobs whose record is at this node; or only the named job (job_unknown).
  virtual std::vector<JobInfo> jobs(std::optional<JobId> job) = 0;
  /// The jobs whose record is at this node and that the filter takes; `beyond`: how many more jobs the filter
  /// takes.
  virtual std::vector<JobInfo> jobs(const JobFilter& which, std::uint64_t& beyond) = 0;
  /// The job at its end. Throws timed_out when it has not ended within the limit.
  virtual JobInfo wait(JobId job, std::optional<Duration> limit) = 0;
  virtual void cancel(JobId job) = 0;
  /// Submits a job that has ended once more, unchanged, and returns the new job. `only_unfinished`: finished
  /// tasks do not run again.
  virtual JobId retry(JobId job, bool only_unfinished) = 0;
  /// Asks the processes of a running job for the reasons why these tasks are where they are.
  virtual client::Answer explain(JobId job, const TaskSelector& what) = 0;
  /// A page of this node's journal of a job, from the position in the question on; without a job: begins and
  /// ends of all jobs. The question gets its number here.
  virtual JournalPage journal(client::AskJournal question) = 0;
  /// Drains the node, so that it gives its jobs to others, or cancels that. Returns when the node has heard.
  virtual void drain(bool draining) = 0;
  /// Ends the node and all its processes. Returns when the node has heard.
  virtual void shutdown() = 0;
};

/// HOST[:PORT]. Throws Failure: address_invalid, peer_unreachable (after `within`), peer_version.
std::unique_ptr<Cluster> connect(const std::string& address, Duration within = connect_within_default,
                                 Duration answers_within = answers_within_default);

}  // namespace dag::detail
