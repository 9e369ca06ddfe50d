#pragma once
// When the tasks of a job were ready, began and ended, and on which lanes, by the journals.

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "libdag/story/job_graph.hpp"
#include "libdag/story/journal_view.hpp"
#include "libdag/story/waiting.hpp"

namespace dag::detail {

class JobTimes {
 public:
  /// An attempt that ended.
  struct Run {
    TaskId task;
    EventPlace place;
    std::int64_t end_unix_ns = 0;
    Duration ran{0};
    bool failed = false;
    std::int64_t begin_unix_ns() const { return end_unix_ns - ran.count(); }
  };
  /// The job's graph with the times of its runs.
  struct Placed {
    PlacedGraph graph;
    std::vector<TaskTimes> times;  ///< by place in the graph
    std::vector<Duration> ran;     ///< newest runs; likewise
    std::vector<LaneSpans> lanes;  ///< in the order of lanes()
  };
  /// A lane of a process.
  using Lane = std::pair<ProcessId, std::uint32_t>;
  static Lane lane_of(const EventPlace& place) { return {place.process, place.lane.value_or(0)}; }

  /// Takes entries of one job only.
  void add(const JournalEntry& entry);

  /// Sorted by end.
  const std::vector<Run>& runs() const { return runs_; }
  const std::set<Lane>& lanes() const { return lanes_; }
  bool has_run(TaskId task) const { return ran_.contains(task); }
  /// Empty: the journals have no edges.
  const JobGraph& graph() const { return graph_; }
  Placed placed() const;

 private:
  JobGraph graph_;
  std::vector<Run> runs_;
  std::set<Lane> lanes_;
  std::unordered_set<TaskId> ran_;
  std::optional<std::int64_t> began_unix_ns_;         ///< of the job
  std::unordered_map<TaskId, std::int64_t> spawned_;  ///< when a task was spawned
  std::unordered_map<TaskId, Duration> transfers_;
  std::unordered_map<TaskId, std::int64_t> lost_;  ///< loss of an attempt before the first run
};

}  // namespace dag::detail
