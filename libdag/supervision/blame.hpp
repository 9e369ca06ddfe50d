#pragma once
// Who is charged when a process went down with attempts on its lanes (promise P7): the attempt whose thread
// faulted, or nobody, or, where the killer is unknown, all are suspects. Decides only that; finding out how
// the process ended is whoever's who watched it, counting the attempts is retry.hpp's.
//
// A suspect runs with nothing beside it from then on. When that process goes down as well it was the suspect,
// or somebody outside: an operator with kill -9, the kernel out of memory, which looks the same and may have
// had another process in mind. Those kill whoever is there, again and again, and a task that runs for long is
// there often; a job must not fail of that. So where nobody says who killed, two deaths are free, and each
// one after them counts as a try. Two and not one: whoever was alone by chance the first time would be
// charged the first time that it was really tried. Who was in company never comes to three, because it is not
// in company again, unless it has to be (members of a group run together).
//
// Where a fault has a lane, or an only attempt, there is no doubt, and it counts the first time.

#include <cstdint>
#include <optional>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/supervision/restart.hpp"

namespace dag {

/// How a process with lanes came to its end.
enum class ProcessEnd : std::uint8_t {
  faulted,         ///< A signal of its own making (SEGV, ABRT, ...), or it left without a result.
  out_of_memory,   ///< The kernel chose it; which attempt ate the memory is not known.
  killed,          ///< SIGKILL from we know not whom.
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

/// So often a task may run in a process that is killed by nobody knows whom before that counts as a try.
inline constexpr std::uint32_t suspicions_free = 2;

/// A task that took so many processes down runs with nothing beside it from then on, as a suspect does. Where
/// no process takes the place of one that died it is tried no more, whatever tries it has left.
inline constexpr std::uint32_t quarantined_after = 2;

/// What the end of the process means for one attempt.
struct Charge {
  TaskId task;
  AttemptId attempt;
  Exit exit = Exit::lost;
  /// It may have been this one: counted by whoever asks, and its next attempt runs alone.
  bool suspect = false;
  bool operator==(const Charge&) const = default;
};

/// `guilty_lane`: the lane whose thread faulted, or whose attempt we stopped the process for; empty when
/// unknown. One charge per attempt, in the order given.
std::vector<Charge> charges(ProcessEnd end, std::optional<std::uint32_t> guilty_lane,
                            const std::vector<RunningAttempt>& running);

/// It crashed, and no task is charged or suspected: no tries bound how often that happens again.
bool counts_for_no_task(ProcessEnd end, const std::vector<RunningAttempt>& running);

}  // namespace dag
