#pragma once
// Which outputs the processes of a job hold.

#include <cstdint>
#include <string>
#include <vector>

#include "libdag/client/cluster.hpp"

namespace dag::detail {

struct ProcessHeld {
  Life life;
  std::vector<HeldOutputs> held;  ///< those with most bytes first
};
struct JobHeld {
  JobId job;
  std::string name;
  std::uint64_t outputs = 0, bytes = 0;  ///< of all processes together
  std::vector<ProcessHeld> processes;    ///< by their ids
  std::vector<Life> silent;              ///< did not answer, so what is theirs is missing
};

/// Asks the processes of the job. Throws Failure: as Cluster::explain.
JobHeld held_by(Cluster& cluster, const JobInfo& job);

}  // namespace dag::detail
