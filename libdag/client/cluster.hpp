#pragma once
// What the commands of `dag` ask of a cluster: a connection to one of its nodes. nodes/ defines it; declared
// here so that tools need no header of the layers below.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libdag/keeper/messages.hpp"
#include "libdag/keeper/node_room.hpp"

namespace dag::detail {

inline constexpr Duration connect_within_default = std::chrono::seconds(5);
/// Who keeps its connection and has not answered after so long is as good as gone.
inline constexpr Duration answers_within_default = std::chrono::seconds(10);

/// Each call waits for the node's answer and throws Failure: what the node says, or cluster_lost when it is
/// gone, or has not answered in time (wait() goes on as long as its limit allows).
class Cluster {
 public:
  virtual ~Cluster() = default;

  /// All that this node knows of, itself first.
  virtual std::vector<NodeInfo> nodes() = 0;
  /// Those whose record is at this node; or the one named (job_unknown).
  virtual std::vector<JobInfo> jobs(std::optional<JobId> job) = 0;
  /// Those of all whose record is at this node that the filter takes; `beyond`: how many more there are of
  /// them.
  virtual std::vector<JobInfo> jobs(const JobFilter& which, std::uint64_t& beyond) = 0;
  /// How the job ended. timed_out: it has not, within the limit.
  virtual JobInfo wait(JobId job, std::optional<Duration> limit) = 0;
  virtual void cancel(JobId job) = 0;
  /// Submits a job that has ended once more, as it was; gives the new job.
  /// `only_unfinished`: what is done there does not run again.
  virtual JobId retry(JobId job, bool only_unfinished) = 0;
  /// Why these tasks are where they are, from the processes of a job that is not over.
  virtual client::Answer explain(JobId job, const TaskSelector& what) = 0;
  /// What this node's journal has of a job behind what was read; of all: when they began and ended. The
  /// question gets its number here.
  virtual JournalPage journal(client::AskJournal question) = 0;
  /// The node is to go, and gets rid of what it has of jobs; or stays after all. Returns when it has heard.
  virtual void drain(bool draining) = 0;
  /// The node ends, with all its processes. Returns when it has heard.
  virtual void shutdown() = 0;
};

/// HOST[:PORT]. Throws Failure: address_invalid, peer_unreachable (after `within`), peer_version.
std::unique_ptr<Cluster> connect(const std::string& address, Duration within = connect_within_default,
                                 Duration answers_within = answers_within_default);

}  // namespace dag::detail
