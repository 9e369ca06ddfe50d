#pragma once
// The edges of a job out of its events, and its critical path: the chain of tasks that took longest. With
// any number of lanes the job would have taken as long.

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/journal/event.hpp"

namespace dag::detail {

class JobGraph {
 public:
  struct Edge {
    TaskId from, to;
    std::uint8_t kind = 0;  ///< EdgeKind
    bool data = false;      ///< an argument of `to` is made from the output of `from`
    auto operator<=>(const Edge&) const = default;
  };

  /// Takes events of one job only.
  void add(const JournalEvent& record);
  /// Each edge once, sorted. A task that became a spawned task ends with it, so the spawned task stands in
  /// its place. A spawned task waits for its parent.
  std::vector<Edge> edges() const;
  bool empty() const { return edges_.empty() && spawned_.empty(); }

 private:
  TaskId tail_of(TaskId task) const;

  std::vector<Edge> edges_;    ///< as recorded, perhaps more than once
  std::vector<Edge> spawned_;  ///< likewise: parent and spawned task
  std::map<TaskId, TaskId> became_;
};

/// A JobGraph with tasks as places 0 to n-1, for passes over all tasks.
class PlacedGraph {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  /// Places for `tasks` and for the tasks of the edges.
  PlacedGraph(const std::vector<JobGraph::Edge>& edges, std::vector<TaskId> tasks);

  std::size_t size() const { return tasks_.size(); }
  TaskId task(std::size_t place) const { return tasks_[place]; }
  /// none: not in the graph.
  std::size_t place_of(TaskId task) const;
  std::span<const std::size_t> after(std::size_t place) const {
    return std::span(to_).subspan(first_[place], first_[place + 1] - first_[place]);
  }
  /// Number of predecessors of each task.
  const std::vector<std::size_t>& waits_for() const { return waits_for_; }
  /// Topological order. Circles are left out; events of a job have none.
  std::vector<std::size_t> order() const;

 private:
  std::vector<TaskId> tasks_;            ///< in their order
  std::vector<std::size_t> first_, to_;  ///< successors of all tasks, one after another
  std::vector<std::size_t> waits_for_;
};

/// The longest chain by running time, from its first task to its last. Tasks that did not run take no time.
/// (Kelley and Walker, 1959: Critical-path planning and scheduling.)
struct CriticalPath {
  Duration length{0};
  std::vector<TaskId> tasks;
};
/// `ran`: by place.
CriticalPath critical_path(const PlacedGraph& graph, const std::vector<Duration>& ran);
CriticalPath critical_path(const std::vector<JobGraph::Edge>& edges, const std::map<TaskId, Duration>& ran);

/// Estimated duration on `lanes` equal lanes without transfers and losses: whenever a lane is free it takes
/// the ready task with the longest chain behind it. (Graham, 1969: Bounds on multiprocessing timing
/// anomalies; the priority is Hu's, 1961.)
Duration list_schedule(const PlacedGraph& graph, const std::vector<Duration>& ran, std::size_t lanes);

}  // namespace dag::detail
