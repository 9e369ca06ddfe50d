#pragma once
// A node's message to a worker process about the job that it serves: the process's life, the node's address.
// By the environment when the process starts, by its door (seat_door.hpp) when it serves another job.

#include <optional>
#include <string>

#include "libdag/base/result.hpp"
#include "libdag/job/spawn_credit.hpp"
#include "libdag/link/frame_header.hpp"
#include "nodes/machine/cores.hpp"

namespace dag {

/// A worker process that ends with this status could not renew its lease (supervision/lease.hpp): nothing
/// that ran there is to blame.
inline constexpr int status_of_lease_lost = 75;
/// Nor when the other processes of its job took it for dead, or its node is gone.
inline constexpr int status_of_cut_off = 76;
/// The process had to end for one attempt (LaneEvents::stuck): the page names the attempt, if it is to blame.
inline constexpr int status_of_stuck = 77;

struct WorkerSeat {
  Life self;
  JobId job;
  /// The node with the record of the job.
  Life cell;
  /// Where its own node listens.
  std::string node_address;
  ClusterId cluster;
  CoreShare share;
  std::uint32_t lanes = 0;
  /// An open descriptor of a RunningPage.
  int page = -1;
  /// An open descriptor of a EventRings; -1: there is no journal.
  int records = -1;
  /// Niceness of its lanes, as of nice(1).
  std::uint32_t niceness = 0;
  SpawnCredit spawn_credit = {};
  /// The process's end of its seat_door.hpp; -1: it serves one job.
  int door = -1;
};

/// The environment variable that holds the seat.
inline constexpr const char* worker_seat_variable = "DAG_WORKER";
std::string to_text(const WorkerSeat& seat);
/// Nothing: to_text() did not write this.
std::optional<WorkerSeat> seat_of(const std::string& text);
/// Nothing when the process was not started by a node; configuration_invalid when the variable is not what a
/// node writes.
Result<std::optional<WorkerSeat>> seat_from_environment();

}  // namespace dag
