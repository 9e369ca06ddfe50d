#pragma once
// Where the time of a job went, out of the journals of nodes: which tasks took it, which took longer than
// their like, which chain of them was the longest, how long they waited when they could have begun, how busy
// the lanes were, and what was done more than once.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/journal/record.hpp"
#include "libdag/story/journal_view.hpp"
#include "libdag/story/task_names.hpp"
#include "libdag/story/waiting.hpp"

namespace dag::detail {

/// Tasks of one name. Quantiles are of single runs, by nearest rank.
struct ClassReport {
  std::string name;
  std::uint64_t runs = 0;    ///< that came back, well or not
  std::uint64_t failed = 0;  ///< of these
  std::uint64_t tasks = 0;   ///< that ran: fewer than `runs` when some ran again
  Duration total{0}, median{0}, p99{0}, longest{0};
};
/// A run that took more than `straggler_times` as long as the median of its name.
struct Straggler {
  TaskId task;
  std::string name;
  RecordPlace place;
  Duration ran{0}, median{0};
};
/// The chain of tasks that took longest (job_graph.hpp): no number of lanes makes the job shorter.
struct PathReport {
  Duration length{0};
  std::uint64_t tasks = 0;
  /// From the first task's beginning to the last one's end, as it was: without its length, what the chain
  /// waited.
  Duration span{0};
  struct Class {
    std::string name;
    std::uint64_t tasks = 0;
    Duration total{0};
  };
  std::vector<Class> classes;  ///< those that took most of it first
};
struct LaneReport {
  RecordPlace lane;
  std::uint64_t runs = 0;
  Duration busy{0};
};
struct JobReport {
  bool over = false;                    ///< its end is recorded
  std::vector<ClassReport> classes;     ///< those that took most of the time first
  std::vector<Straggler> stragglers;    ///< those that lost most first; at most stragglers_max
  std::uint64_t stragglers_beyond = 0;  ///< those that are not listed
  std::vector<LaneReport> lanes;        ///< by place
  std::optional<PathReport> path;       ///< none: the journals do not say what waited for what
  /// For what tasks waited, all together, and lanes with nothing to do; likewise.
  std::optional<Waiting> waiting;
  /// How long the same tasks would take on as many lanes, and on one more (list_schedule() in job_graph.hpp);
  /// likewise.
  std::optional<Duration> scheduled, with_one_more;
  /// From the end of the last task that a task waited for to its own beginning: of tasks whose both ends are
  /// known.
  std::uint64_t delays = 0;
  Duration delay_median{0}, delay_p99{0}, delay_total{0};
  Duration span{0};   ///< from the beginning of the first run to the end of the last one
  Duration busy{0};   ///< of all lanes together
  Duration again{0};  ///< of runs of tasks that had come back before, or that failed
  std::uint64_t runs = 0, tasks = 0;
  /// Tasks, and how many of them did not run as far as is known.
  std::uint64_t settled = 0;
  Unrun unrun;
  std::uint64_t crashes = 0, losses = 0, retries = 0;  ///< of attempts
};

inline constexpr int straggler_times = 3;
/// Shorter ones cost nobody anything.
inline constexpr Duration straggler_min = std::chrono::milliseconds(10);
inline constexpr std::size_t stragglers_max = 10;

/// Reads these journals; in memory are a few words per run. `notices` gets what could not be read. Throws
/// Failure(usage) when there is no journal in one of them.
JobReport make_report(const JournalPaths& journals, JobId job, std::vector<std::string>& notices);

}  // namespace dag::detail
