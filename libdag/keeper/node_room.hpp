#pragma once
// How many jobs and clients a node takes at once, by the limits of open files and of processes that it is
// under. Pure; libdag/warden/limits.hpp reads the limits.
//
// Jobs beyond that wait in their gateways until others have ended, and clients beyond that wait to be
// welcomed. Each has a part of the files of its own: clients that wait for their jobs leave room for these.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dag/error.hpp"

namespace dag {

/// What a node is under. 0: no limit.
struct NodeLimits {
  std::uint64_t files = 0;  ///< open at once, in the node's process
  /// Processes and threads, which the kernel counts as one, of whoever shares the limit.
  struct Processes {
    std::string what;  ///< as in "512 processes (ulimit -u)"
    std::uint64_t limit = 0;
    std::uint64_t used = 0;
  };
  std::vector<Processes> processes = {};
  std::uint32_t nodes_of_host = 1;  ///< that share those limits
  std::uint32_t lanes = 1;          ///< of each worker process
};

struct NodeRoom {
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t jobs = unlimited;
  std::uint64_t clients = unlimited;
  std::string jobs_by, clients_by;  ///< which limit says so; empty: none does
  bool operator==(const NodeRoom&) const = default;
};

/// One of each at least: a node without room for any would be none. `nodes`: of the cluster.
NodeRoom room_of(const NodeLimits& limits, std::size_t nodes);

/// limit_reached: the node `name` has as many as it has room for.
Error no_room_for_job(const std::string& name, const NodeRoom& room);
Error no_room_for_client(const std::string& name, const NodeRoom& room);

}  // namespace dag
