#pragma once
// Why tasks of a job do not run, or have not ended: asks about them, then about the tasks that they wait for,
// until it reaches tasks that wait for something other than a task. Decides which tasks to ask about; the
// reason for a task comes from its home (libdag/job/explained.hpp).

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libdag/client/start_estimate.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag::detail {

/// The state of a task, from its home and from the process that runs it.
struct TaskReason {
  TaskExplained task;
  Life home;
  std::optional<RunningNow> running;  ///< a lane has it
  std::optional<Life> at;             ///< the lane's process, or the process with the attempt
  std::string taken;                  ///< that process's word about an attempt that no lane has
  /// Attempts that did not end when they were told to: their kernels still run in these processes.
  std::vector<std::pair<Life, RunningNow>> given_up;
  std::uint64_t place = 0;              ///< in the queue for the lanes of its process; 0: not queued
  std::optional<StartEstimate> starts;  ///< if it is queued and durations are known
};

struct Explanation {
  /// Number of tasks asked for, by state.
  std::array<std::uint64_t, row_states> counts{};
  /// The most relevant first; at most explained_max of each process.
  std::vector<TaskReason> tasks;
  /// Tasks that block the others in the end, nearest first.
  std::vector<TaskReason> roots;
  bool roots_beyond = false;                ///< more may exist
  std::vector<ProcessExplained> processes;  ///< the lanes of each process; without tasks
  std::vector<Life> silent;                 ///< did not answer; their tasks are missing

  std::uint64_t count() const;
};

/// Number of kernels still running there on lanes that were given up.
std::size_t given_up_in(const ProcessExplained& process);

/// The place with the earliest start, and the start, as placement predicts it.
struct WouldBegin {
  ProcessId process;
  Duration in{0};
};
/// For a ready task. None: the task is not ready, or no process can take it.
std::optional<WouldBegin> would_begin(const TaskReason& reason);
/// True: the task has not begun, and the answer does not say where it could run. In a long answer the homes
/// find that out for their first few tasks only.
bool places_left_out(const TaskReason& reason);
/// Remaining time of a running task, by what tasks of its name usually take. None: not known.
std::optional<Duration> left_of(const TaskReason& reason);
/// Earliest start of the one task asked for: the longest remaining time of its roots. None: a root's time is
/// not known, or several tasks were asked for.
std::optional<Duration> not_before(const Explanation& found);

/// Parses a name, a number, numbers (3-9), or numbers of a name (train/3-9), as commands print
/// tasks. An ambiguous text selects all its readings. Empty: all tasks. `failed`: only those that
/// failed.
TaskSelector selector_of(const std::string& task, bool failed = false);

/// A node of the cluster that runs nothing of the job, and why.
struct NodeWithout {
  ProcessId node;
  std::string why;  ///< "is a witness"
  bool operator==(const NodeWithout&) const = default;
};
/// Sorted by id. Empty for a job whose processes are not known, since it has just begun or has ended.
std::vector<NodeWithout> nodes_without(const JobInfo& job, const std::vector<NodeInfo>& nodes);

/// Selects no task, for questions whose answer is about more than tasks.
TaskSelector selector_of_none();
/// The longest remaining path of all processes. None: nothing is left, or a process did not answer.
std::optional<PathLeft> critical_path_in(const client::Answer& answer);

/// Asks the processes of the job.
using AskProcesses = std::function<client::Answer(const TaskSelector&)>;
Explanation explain(const AskProcesses& ask, const TaskSelector& what);

}  // namespace dag::detail
