#pragma once
// Why tasks of a job do not run, or have not ended: asks about them, and then about those that they wait for,
// until it comes to tasks that wait for something else than a task. Decides whom to ask about; what a process
// says of a task is its home's (libdag/job/explained.hpp).

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libdag/client/start_estimate.hpp"
#include "libdag/keeper/messages.hpp"

namespace dag::detail {

/// What is known of one task, from its home and from who runs it.
struct TaskReason {
  TaskExplained task;
  Life home;
  std::optional<RunningNow> running;  ///< a lane has it
  std::optional<Life> at;             ///< whose lane, or who has the attempt
  std::string taken;                  ///< what that one says of an attempt that no lane has
  /// Attempts that did not end when they were told to: their kernels still run there.
  std::vector<std::pair<Life, RunningNow>> given_up;
  std::uint64_t place = 0;              ///< in the queue for the lanes where it is; 0: not queued
  std::optional<StartEstimate> starts;  ///< if it is queued, and it is known how long tasks take
};

struct Explanation {
  /// Of all that were asked for.
  std::array<std::uint64_t, row_states> counts{};
  /// Those that matter most first; at most explained_max of each process.
  std::vector<TaskReason> tasks;
  /// What those wait for in the end, the nearest first.
  std::vector<TaskReason> roots;
  bool roots_beyond = false;                ///< there may be more
  std::vector<ProcessExplained> processes;  ///< the lanes of each; without their tasks
  std::vector<Life> silent;                 ///< did not answer, so what is theirs is missing

  std::uint64_t count() const;
};

/// How many kernels run there whose lanes were given up.
std::size_t given_up_in(const ProcessExplained& process);

/// Where it would begin first, and when, as placement predicts it.
struct WouldBegin {
  ProcessId process;
  Duration in{0};
};
/// Of a task that is ready. None: it is not, or nobody can take it.
std::optional<WouldBegin> would_begin(const TaskReason& reason);
/// It has not begun, and where it could run is not said: of a long answer that is found out for the first few
/// of each home.
bool places_left_out(const TaskReason& reason);
/// Of one that runs: what is left of what tasks of its name usually take. None: that is not known.
std::optional<Duration> left_of(const TaskReason& reason);
/// The one task that was asked for begins no sooner: the longest of what its roots still take. None: of a
/// root it is not known, or more tasks were asked for.
std::optional<Duration> not_before(const Explanation& found);

/// As people write it: a name, a number, numbers (3-9), or those of one name (train/3-9), as all that prints
/// tasks numbers them. What could be several of these is all of them. Empty: all tasks. `failed`: of them
/// those that failed.
TaskSelector selector_of(const std::string& task, bool failed = false);

/// A node of the cluster that runs nothing of the job, and why.
struct NodeWithout {
  ProcessId node;
  std::string why;  ///< "is a witness"
  bool operator==(const NodeWithout&) const = default;
};
/// By their numbers. Of a job whose processes are not known (it has just begun, or ended) none.
std::vector<NodeWithout> nodes_without(const JobInfo& job, const std::vector<NodeInfo>& nodes);

/// Asks for no more of tasks than can be helped: for what else a selector can ask for.
TaskSelector selector_of_none();
/// The longest of those of the processes. None: nothing is left, or not all have answered.
std::optional<PathLeft> critical_path_in(const client::Answer& answer);

/// What the processes of the job answer.
using AskProcesses = std::function<client::Answer(const TaskSelector&)>;
Explanation explain(const AskProcesses& ask, const TaskSelector& what);

}  // namespace dag::detail
