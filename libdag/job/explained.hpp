#pragma once
// Why tasks are where they are: what is asked of the processes of a job, and what each answers of the rows
// whose home it is, and of the attempts that it has. Plain values; homes and runners know the reasons.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/journal/record.hpp"
#include "libdag/placement/misfit.hpp"
#include "libdag/rows/word.hpp"

namespace dag {

/// Tasks of one name, or of any, by their numbers: train/3-9, s2/0-4.
struct TaskRange {
  std::string name;        ///< empty: any
  TaskId first;            ///< with `last`: both ends count
  std::uint32_t last = 0;  ///< of the same origin
  /// By its number alone.
  bool holds(TaskId task) const {
    return task.origin == first.origin && task.index >= first.index && task.index <= last;
  }
  bool operator==(const TaskRange&) const = default;
};
/// Which tasks: those of the name, those named one by one, and those of the range. With none of these: all.
struct TaskSelector {
  std::string name;
  std::vector<TaskId> tasks;
  bool outputs = false;  ///< and which outputs lie where
  std::optional<TaskRange> range = {};
  bool failed = false;         ///< of them, those that failed, or of which a try did
  bool critical_path = false;  ///< and about how long the rest of the job takes
  bool takes(TaskId task, const std::string& its_name) const;
  bool takes_all() const { return name.empty() && tasks.empty() && !range; }
  /// Numbers do not tell which they are. (What was named by a number has that for a name, too.)
  bool needs_names() const { return range ? !range->name.empty() : !name.empty() && tasks.empty(); }
  bool operator==(const TaskSelector&) const = default;
};

/// How many are described; of the others it is said how many there are.
inline constexpr std::size_t explained_max = 64;
/// Of the predecessors that one task waits for.
inline constexpr std::size_t waits_for_max = 16;
inline constexpr std::size_t why_bytes_max = 4096;
/// Lanes of one process that are told of, those that were given up included.
inline constexpr std::size_t running_max = 1024;
/// Places in a queue that are told.
inline constexpr std::size_t places_max = 10'000;

/// How long some tasks ran: the mean, and between which times most of them lie.
struct RunEstimate {
  Duration mean{0};
  Duration least{0}, most{0};
  std::uint64_t runs = 0;  ///< that it was learnt from; 0: it was stated
  bool operator==(const RunEstimate&) const = default;
};

/// One task, as its home has it; or an attempt, as the process has it that is to run it.
struct TaskExplained {
  TaskId task;
  std::string name;
  RowState state = RowState::waiting;
  Outcome outcome = Outcome::none;  ///< when it has ended
  AttemptId attempt;                ///< the newest one
  /// One line: "waits for its next try".
  std::string why;
  std::uint32_t failures = 0;  ///< tries of its kernel that failed, or took their process down
  /// The predecessors that have not ended: the first ones, of so many.
  std::vector<TaskId> waits_for;
  std::uint64_t waits_for_all = 0;
  /// What placement thinks of each process at this moment, for a task that has not begun. By the same
  /// predicate that places it.
  std::vector<recorded::Candidate> candidates;
  TaskNeeds needs;  ///< what it occupies while it runs
  Priority priority = Priority::normal;
  /// How long tasks of its name take, where some have ended at its home.
  std::optional<RunEstimate> usual;
  std::optional<Error> error;  ///< of its newest try that failed, or of its end
  /// Its place in the queue for the lanes of the process, from 1. 0: it is not queued there, or far behind.
  std::uint64_t place = 0;
  bool operator==(const TaskExplained&) const = default;
};

/// A lane has it since `ran`.
struct RunningNow {
  TaskId task;
  AttemptId attempt;
  std::uint32_t lane = 0;
  Duration ran{0};
  std::string name = {};                  ///< of the task; empty: its home is elsewhere
  std::optional<RunEstimate> usual = {};  ///< of tasks of that name
  /// The attempt did not end when it was told to: another thread has its lane, and its kernel still runs.
  bool given_up = false;
  std::uint32_t number = 0;  ///< of the attempt, as Context::attempt says; 0: not known
  bool operator==(const RunningNow&) const = default;
};

/// Outputs of tasks of one name that a process holds.
struct HeldOutputs {
  std::string name;  ///< empty: of names beyond held_names_max, and of tasks without one
  std::uint64_t outputs = 0;
  std::uint64_t bytes = 0;  ///< what lies there twice counts once
  bool operator==(const HeldOutputs&) const = default;
};
inline constexpr std::size_t held_names_max = 64;

/// The longest way through the graph from a task that has not ended, by how long tasks of its names usually
/// take, each as if it had just begun: about what is left of the job with any number of lanes.
struct PathLeft {
  Duration left{0};         ///< zero: of no task it is known how long it takes
  std::uint64_t tasks = 0;  ///< on it
  TaskId first;
  bool operator==(const PathLeft&) const = default;
};

constexpr std::size_t row_states = static_cast<std::size_t>(RowState::ended) + 1;

/// What one process says.
struct ProcessExplained {
  Life life;
  /// Those that matter most first: what is held, runs, is lent or ready, then what waits, then what has
  /// ended.
  std::vector<TaskExplained> tasks;
  /// Of all that were asked for and have their home there: how many are in each state.
  std::array<std::uint64_t, row_states> counts{};
  /// Attempts that it has for other homes.
  std::vector<TaskExplained> taken;
  /// On its lanes, whatever was asked for.
  std::vector<RunningNow> running;
  std::uint32_t lanes = 0;
  std::uint64_t queued = 0;                    ///< that wait for one of them
  std::vector<HeldOutputs> held;               ///< if it was asked for; those with most bytes first
  std::optional<PathLeft> critical_path = {};  ///< of its rows, if it was asked for and one has not ended
  std::optional<RunEstimate> runs = {};        ///< of tasks of all names that ended at homes there
  bool operator==(const ProcessExplained&) const = default;
};

}  // namespace dag
