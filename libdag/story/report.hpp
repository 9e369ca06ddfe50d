#pragma once
// Report on the time of a job, out of the journals of nodes: the tasks that took most of it,
// stragglers, the critical path, waiting times of ready tasks, how busy the lanes were, and repeated
// work.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/journal/event.hpp"
#include "libdag/story/journal_view.hpp"
#include "libdag/story/task_names.hpp"
#include "libdag/story/waiting.hpp"

namespace dag::detail {

/// Tasks of one name. Quantiles are of single runs, by nearest rank.
struct ClassReport {
  std::string name;
  std::uint64_t runs = 0;    ///< ended runs, failed ones included
  std::uint64_t failed = 0;  ///< of `runs`
  std::uint64_t tasks = 0;   ///< tasks that ran: fewer than `runs` if some ran again
  Duration total{0}, median{0}, p99{0}, longest{0};
};
/// A run that took more than `straggler_times` as long as the median of its name.
struct Straggler {
  TaskId task;
  std::string name;
  EventPlace place;
  Duration ran{0}, median{0};
};
/// The critical path (job_graph.hpp): the job takes at least as long with any number of lanes.
struct PathReport {
  Duration length{0};
  std::uint64_t tasks = 0;
  /// Measured time from the first task's beginning to the last task's end. Minus the path's length it is the
  /// waiting time on the path.
  Duration span{0};
  struct Class {
    std::string name;
    std::uint64_t tasks = 0;
    Duration total{0};
  };
  std::vector<Class> classes;  ///< the largest share first
};
struct LaneReport {
  EventPlace lane;
  std::uint64_t runs = 0;
  Duration busy{0};
};
struct JobReport {
  bool over = false;                    ///< its end is recorded
  std::vector<ClassReport> classes;     ///< the largest share of time first
  std::vector<Straggler> stragglers;    ///< the largest excess first; at most stragglers_max
  std::uint64_t stragglers_beyond = 0;  ///< stragglers that are not listed
  std::vector<LaneReport> lanes;        ///< by place
  std::optional<PathReport> path;       ///< none: the journals have no edges
  /// Waiting times of all tasks and idle time of lanes; none as `path`.
  std::optional<Waiting> waiting;
  /// Duration of the same tasks on as many lanes, and on one more (list_schedule() in job_graph.hpp); none as
  /// `path`.
  std::optional<Duration> scheduled, with_one_more;
  /// Time from the end of a task's last predecessor to its own beginning, for tasks with both ends
  /// known.
  std::uint64_t delays = 0;
  Duration delay_median{0}, delay_p99{0}, delay_total{0};
  Duration span{0};   ///< from the beginning of the first run to the end of the last
  Duration busy{0};   ///< of all lanes together
  Duration again{0};  ///< repeated runs of tasks that had ended before, and failed runs
  std::uint64_t runs = 0, tasks = 0;
  /// Settled tasks, and how many of them did not run as far as is known.
  std::uint64_t settled = 0;
  Unrun unrun;
  std::uint64_t crashes = 0, losses = 0, retries = 0;  ///< of attempts
};

inline constexpr int straggler_times = 3;
/// Shorter runs are not listed as stragglers.
inline constexpr Duration straggler_min = std::chrono::milliseconds(10);
inline constexpr std::size_t stragglers_max = 10;

/// Reads these journals, with a few words of memory per run. `notices` gets the gaps. Throws Failure(usage)
/// when there is no journal at one of the paths.
JobReport make_report(const JournalPaths& journals, JobId job, std::vector<std::string>& notices);

}  // namespace dag::detail
