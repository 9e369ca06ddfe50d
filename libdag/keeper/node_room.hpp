#pragma once
// How many jobs and clients a node takes at once, by its limits of open files and of processes. Pure;
// libdag/warden/limits.hpp reads the limits.
//
// Further jobs wait in their gateways until others have ended, and further clients wait to be welcomed. Jobs
// and clients have separate shares of the files, so waiting clients leave room for the jobs.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dag/error.hpp"

namespace dag {

/// Limits of a node. 0: no limit.
struct NodeLimits {
  std::uint64_t files = 0;  ///< open at once, in the node's process
  /// Processes and threads, which the kernel counts together, of all that share the limit.
  struct Processes {
    std::string what;  ///< as in "512 processes (ulimit -u)"
    std::uint64_t limit = 0;
    std::uint64_t used = 0;
  };
  std::vector<Processes> processes = {};
  std::uint32_t nodes_of_host = 1;  ///< nodes that share those limits
  std::uint32_t lanes = 1;          ///< of each worker process
};

struct NodeRoom {
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t jobs = unlimited;
  std::uint64_t clients = unlimited;
  std::string jobs_by, clients_by;  ///< the limit that decides; empty: none
  bool operator==(const NodeRoom&) const = default;
};

/// At least room for a job and a client: without any the node would be useless. `nodes`: of the cluster.
NodeRoom room_of(const NodeLimits& limits, std::size_t nodes);

/// limit_reached: the node `name` has no room for another job.
Error no_room_for_job(const std::string& name, const NodeRoom& room);
Error no_room_for_client(const std::string& name, const NodeRoom& room);

}  // namespace dag
