#pragma once
// Outputs that the processes of a job hold.

#include <cstdint>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"

namespace dag::detail {

struct ProcessHeld {
  Life life;
  std::vector<HeldOutputs> held;  ///< most bytes first
};
struct JobHeld {
  JobId job;
  std::string name;
  std::uint64_t outputs = 0, bytes = 0;  ///< of all processes
  std::vector<ProcessHeld> processes;    ///< by their ids
  std::vector<Life> silent;              ///< did not answer; their outputs are missing
};

/// Asks the processes of the job. Throws Failure: as Cluster::explain.
JobHeld held_by(Cluster& cluster, const JobInfo& job);

}  // namespace dag::detail
