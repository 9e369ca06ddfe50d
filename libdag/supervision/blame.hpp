#pragma once
// Decides which attempt is charged when a process went down with attempts on its lanes (promise P7): the
// attempt whose thread faulted, or none, or, where the killer is unknown, all are suspects. The watcher of
// the process finds out how it ended; retry.hpp counts the tries.
//
// A suspect runs with nothing beside it from then on. If that process goes down as well, the suspect did it
// or something outside: an operator with kill -9, or the kernel out of memory, which looks the same and may
// have meant another process. Those kill any process, repeatedly, and a long task is often there; a job must
// not fail by that. So while the killer is unknown two deaths are free, and each further one counts as a try.
// Two and not one: a task that was alone by chance the first time would be charged at its first real test. A
// task that had company never comes to three, because it does not get company again, unless it must (members
// of a group run together).
//
// A fault with a known lane, or a single attempt, leaves no doubt and counts the first time.

#include <cstdint>
#include <optional>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/supervision/restart.hpp"

namespace dag {

/// How a process with lanes ended.
enum class ProcessEnd : std::uint8_t {
  faulted,         ///< A signal that it raised itself (SEGV, ABRT, ...), or an end without a result.
  out_of_memory,   ///< The kernel chose it; the attempt that used the memory is not known.
  killed,          ///< SIGKILL of unknown origin.
  stopped_by_us,   ///< Timeout past the grace, cancellation of the job, shutdown.
  went_with_node,  ///< Its node or host went away.
};

/// An attempt that ran when the process went down.
struct RunningAttempt {
  TaskId task;
  AttemptId attempt;
  std::uint32_t lane = 0;
  /// How often this task was a suspect before.
  std::uint32_t suspected = 0;
};

/// Deaths of unknown cause in a task's process before a further one counts as a try.
inline constexpr std::uint32_t suspicions_free = 2;

/// A task that crashed so many processes runs with nothing beside it from then on, as a suspect does. Where
/// dead processes are not replaced, it is tried no more, whatever tries it has left.
inline constexpr std::uint32_t quarantined_after = 2;

/// The consequence of the process's end for an attempt.
struct Charge {
  TaskId task;
  AttemptId attempt;
  Exit exit = Exit::lost;
  /// Suspects this attempt: the caller counts that, and the task's next attempt runs alone.
  bool suspect = false;
  bool operator==(const Charge&) const = default;
};

/// `guilty_lane`: the lane whose thread faulted, or whose attempt was the reason to stop the process; empty
/// when unknown. A charge per attempt, in the order given.
std::vector<Charge> charges(ProcessEnd end, std::optional<std::uint32_t> guilty_lane,
                            const std::vector<RunningAttempt>& running);

/// True: it crashed, and no task is charged or suspected, so no tries limit the repetition.
bool counts_for_no_task(ProcessEnd end, const std::vector<RunningAttempt>& running);

}  // namespace dag
