#pragma once
// Who is charged when a process went down with attempts on its lanes (promise P7): the attempt whose thread
// faulted, or nobody, or, where the killer is unknown, all are suspects. Decides only that; finding out how
// the process ended is the WorkerProcessActor's, counting the attempts is retry.hpp's.

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

/// What the end of the process means for one attempt.
struct Charge {
  TaskId task;
  AttemptId attempt;
  Exit exit = Exit::lost;
  /// It may have been this one. Counted per task by whoever keeps the row.
  bool suspect = false;
  /// Its next attempt gets a process of its own, so a second death would be no riddle.
  bool next_alone = false;
  bool operator==(const Charge&) const = default;
};

/// `guilty_lane`: the lane whose thread faulted, or whose attempt we stopped the process for; empty when
/// unknown. One charge per attempt, in the order given.
std::vector<Charge> charges(ProcessEnd end, std::optional<std::uint32_t> guilty_lane,
                            const std::vector<RunningAttempt>& running);

}  // namespace dag
