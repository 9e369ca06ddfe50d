#pragma once
// The state that WorkerProcesses keeps for one process; for its .cpp files alone.

#include <sys/types.h>

#include <optional>
#include <string>

#include "nodes/workers/worker_processes.hpp"

namespace dag {

struct WorkerProcesses::Process {
  pid_t warden = 0;   ///< ends when the process has, and all that it started
  OwnedFile pidfd;    ///< of the warden
  pid_t process = 0;  ///< to look at only: once the process has ended its number may be another's
  OwnedFile door;     ///< our end of its SeatDoor; none: it serves one job
  Launch launch;
  std::optional<Instant> until;    ///< while it waits for a job: so long
  std::optional<Instant> kill_at;  ///< it was told to end, or to leave its job
};

/// A process that serves a job.
struct WorkerProcesses::Child {
  Process of;
  const RunningPage* page = nullptr;
  std::string log;
  std::optional<Instant> ask_at = {};  ///< it is told to end then, or when none of its kernels runs
  bool stopped = false;
  bool leaves = false;  ///< it was told to leave the job
  /// Handed to it after it had served another job: started again if it ends before it has begun.
  std::optional<Order> handed = {};
  std::optional<Order> next = {};  ///< gets its place when it has left
  FrozenWatch watch = {};
  std::string frozen = {};  ///< why it was ended
};

}  // namespace dag
