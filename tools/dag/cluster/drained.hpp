#pragma once
// What a node that is draining still has of jobs. Decides it from what those say who lead the jobs: the node
// itself may not have heard that its copy of a record counts no more.

#include <vector>

#include "libdag/client/cluster.hpp"

namespace dag::tool {

/// What a node said of a job.
struct JobSaid {
  ProcessId by;
  JobInfo job;
};

/// Jobs, in their order.
struct LeftAt {
  std::vector<JobId> led;        ///< whose record it leads
  std::vector<JobId> processes;  ///< that have a process there
  /// Of whose record it has a copy that is needed, or that another node could have. Where every other node
  /// has one, and a majority of them does without it, it stays: the node may be back.
  std::vector<JobId> copies;
  bool nothing() const { return led.empty() && processes.empty() && copies.empty(); }
  bool operator==(const LeftAt&) const = default;
};
LeftAt left_at(ProcessId node, const std::vector<NodeInfo>& nodes, const std::vector<JobSaid>& said);

}  // namespace dag::tool
