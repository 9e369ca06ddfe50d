#pragma once
// The parts of jobs that a draining node still has. Decides it by the reports of the jobs' leaders: the node
// itself may not have heard that its copy of a record counts no more.

#include <vector>

#include "libdag/client/cluster.hpp"

namespace dag::tool {

/// A node's report of a job.
struct JobSaid {
  ProcessId by;
  JobInfo job;
};

/// Jobs, in their order.
struct LeftAt {
  std::vector<JobId> led;        ///< whose record it leads
  std::vector<JobId> processes;  ///< that have a process there
  /// Jobs of which it has a copy of the record that is needed, or that another node could have. Where every
  /// other node has a copy, and a majority does without this one, it stays: the node may be back.
  std::vector<JobId> copies;
  bool nothing() const { return led.empty() && processes.empty() && copies.empty(); }
  bool operator==(const LeftAt&) const = default;
};
LeftAt left_at(ProcessId node, const std::vector<NodeInfo>& nodes, const std::vector<JobSaid>& said);

}  // namespace dag::tool
