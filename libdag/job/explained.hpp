#pragma once
// Answers to `dag explain`: a question to the processes of a job, and the answer of each about the rows of
// its homes and about its attempts. Plain values; homes and runners know the reasons.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/journal/event.hpp"
#include "libdag/placement/misfit.hpp"
#include "libdag/rows/word.hpp"

namespace dag {

/// Tasks of one name, or of any, by their numbers: train/3-9, s2/0-4.
struct TaskRange {
  std::string name;        ///< empty: any
  TaskId first;            ///< with `last`: both ends count
  std::uint32_t last = 0;  ///< of the same origin
  /// Compares numbers only.
  bool holds(TaskId task) const {
    return task.origin == first.origin && task.index >= first.index && task.index <= last;
  }
  bool operator==(const TaskRange&) const = default;
};
/// Selects tasks: by name, one by one, and by range. With none of these: all.
struct TaskSelector {
  std::string name;
  std::vector<TaskId> tasks;
  bool outputs = false;  ///< also where outputs lie
  std::optional<TaskRange> range = {};
  bool failed = false;         ///< only those that failed, or had a try that failed
  bool critical_path = false;  ///< also about how long the rest of the job takes
  bool takes(TaskId task, const std::string& its_name) const;
  bool takes_all() const { return name.empty() && tasks.empty() && !range; }
  /// True if task numbers do not suffice. (A task selected by number has the number as its name.)
  bool needs_names() const { return range ? !range->name.empty() : !name.empty() && tasks.empty(); }
  bool operator==(const TaskSelector&) const = default;
};

/// Tasks described in one answer; the rest is counted only.
inline constexpr std::size_t explained_max = 64;
/// Predecessors listed for a task that waits.
inline constexpr std::size_t waits_for_max = 16;
inline constexpr std::size_t why_bytes_max = 4096;
/// Lanes of one process listed in an answer, those that were given up included.
inline constexpr std::size_t running_max = 1024;
/// Queue places listed in an answer.
inline constexpr std::size_t places_max = 10'000;

/// Run times of some tasks: their mean, and the range in which most of them lie.
struct RunEstimate {
  Duration mean{0};
  Duration least{0}, most{0};
  std::uint64_t runs = 0;  ///< runs learnt from; 0: a stated duration
  bool operator==(const RunEstimate&) const = default;
};

/// A task, as its home has it; or an attempt, as the process has it that is to run it.
struct TaskExplained {
  TaskId task;
  std::string name;
  RowState state = RowState::waiting;
  Outcome outcome = Outcome::none;  ///< when it has ended
  AttemptId attempt;                ///< the newest one
  /// A line of text: "waits for its next try".
  std::string why;
  std::uint32_t failures = 0;  ///< tries of its kernel that failed, or took their process down
  /// The first of the predecessors that have not ended; `waits_for_all` is their number.
  std::vector<TaskId> waits_for;
  std::uint64_t waits_for_all = 0;
  /// For a task that has not begun: placement's verdict on each process at this moment, by the same predicate
  /// that places the task.
  std::vector<event::Candidate> candidates;
  TaskNeeds needs;  ///< what it occupies while it runs
  Priority priority = Priority::normal;
  /// The usual run time of tasks of this name, if some have ended at this home.
  std::optional<RunEstimate> usual;
  std::optional<Error> error;  ///< its newest failed try's, or its end's
  /// Its place in the queue for the lanes of the process, from 1. 0: it is not queued there, or far behind.
  std::uint64_t place = 0;
  bool operator==(const TaskExplained&) const = default;
};

/// An attempt that has been on a lane for `ran`.
struct RunningNow {
  TaskId task;
  AttemptId attempt;
  std::uint32_t lane = 0;
  Duration ran{0};
  std::string name = {};                  ///< the task's; empty: its home is elsewhere
  std::optional<RunEstimate> usual = {};  ///< run time of tasks of that name
  /// The attempt ignored its stop: its lane got another thread, and its kernel still runs.
  bool given_up = false;
  std::uint32_t number = 0;  ///< the attempt's, as in Context::attempt; 0: not known
  bool operator==(const RunningNow&) const = default;
};

/// Outputs of tasks of one name that a process holds.
struct HeldOutputs {
  std::string name;  ///< empty: names beyond held_names_max, and tasks without a name
  std::uint64_t outputs = 0;
  std::uint64_t bytes = 0;  ///< memory that two outputs share counts once
  bool operator==(const HeldOutputs&) const = default;
};
inline constexpr std::size_t held_names_max = 64;

/// The longest path through the graph from a task that has not ended, by usual run times of task names, each
/// task as if it had just begun: about the rest of the job's time with any number of lanes.
struct PathLeft {
  Duration left{0};         ///< zero: no run time is known of any task
  std::uint64_t tasks = 0;  ///< tasks on the path
  TaskId first;
  bool operator==(const PathLeft&) const = default;
};

constexpr std::size_t row_states = static_cast<std::size_t>(RowState::ended) + 1;

/// The answer of one process.
struct ProcessExplained {
  Life life;
  /// The most urgent rows first: held, running, lent or ready ones, then waiting ones, then those that have
  /// ended.
  std::vector<TaskExplained> tasks;
  /// Rows of homes there that the selector takes, by state.
  std::array<std::uint64_t, row_states> counts{};
  /// Attempts taken from homes elsewhere.
  std::vector<TaskExplained> taken;
  /// Attempts on the lanes, independent of the selector.
  std::vector<RunningNow> running;
  std::uint32_t lanes = 0;
  std::uint64_t queued = 0;                    ///< attempts and rows that wait for a lane
  std::vector<HeldOutputs> held;               ///< if asked for: the names with most bytes first
  std::optional<PathLeft> critical_path = {};  ///< of the rows here, if asked for and one has not ended
  std::optional<RunEstimate> runs = {};        ///< run time of all tasks that ended at homes there
  bool operator==(const ProcessExplained&) const = default;
};

}  // namespace dag
