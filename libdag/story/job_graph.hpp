#pragma once
// What waited for what in a job, as its records say, and which chain of tasks took longest: with any number
// of lanes the job would have taken as long.

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/journal/record.hpp"

namespace dag::detail {

class JobGraph {
 public:
  struct Edge {
    TaskId from, to;
    std::uint8_t kind = 0;  ///< EdgeKind
    bool data = false;      ///< an argument of `to` is made from what `from` leaves
    auto operator<=>(const Edge&) const = default;
  };

  /// Of that one job.
  void add(const Record& record);
  /// Each once, in their order. A task that became another one ends with it, so that one stands in its place;
  /// and what a task spawned waits for that task.
  std::vector<Edge> edges() const;
  bool empty() const { return edges_.empty() && spawned_.empty(); }

 private:
  TaskId tail_of(TaskId task) const;

  std::vector<Edge> edges_;    ///< as they were recorded, perhaps more than once
  std::vector<Edge> spawned_;  ///< likewise: parents, and what they spawned
  std::map<TaskId, TaskId> became_;
};

/// The same, with every task by its place in a row, for what goes over all of them.
class PlacedGraph {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  /// Of the tasks that edges name, and of these.
  PlacedGraph(const std::vector<JobGraph::Edge>& edges, std::vector<TaskId> tasks);

  std::size_t size() const { return tasks_.size(); }
  TaskId task(std::size_t place) const { return tasks_[place]; }
  /// none: it is not in it.
  std::size_t place_of(TaskId task) const;
  std::span<const std::size_t> after(std::size_t place) const {
    return std::span(to_).subspan(first_[place], first_[place + 1] - first_[place]);
  }
  /// How many others each waits for.
  const std::vector<std::size_t>& waits_for() const { return waits_for_; }
  /// Each behind all that it waits for. What is in a circle is left out; records of a job have none.
  std::vector<std::size_t> order() const;

 private:
  std::vector<TaskId> tasks_;            ///< in their order
  std::vector<std::size_t> first_, to_;  ///< what follows each, one after another
  std::vector<std::size_t> waits_for_;
};

/// The longest chain, by how long its tasks ran: from the first one to the last. Those that did not run take
/// no time. (Kelley and Walker, 1959: Critical-path planning and scheduling.)
struct CriticalPath {
  Duration length{0};
  std::vector<TaskId> tasks;
};
/// `ran`: by place.
CriticalPath critical_path(const PlacedGraph& graph, const std::vector<Duration>& ran);
CriticalPath critical_path(const std::vector<JobGraph::Edge>& edges, const std::map<TaskId, Duration>& ran);

/// How long the tasks would take on so many lanes that are alike, if nothing had to be moved and none was
/// lost: whenever a lane is free it gets, of the tasks that can begin, the one with the longest chain behind
/// it. (Graham, 1969: Bounds on multiprocessing timing anomalies; the priority is Hu's, 1961.)
Duration list_schedule(const PlacedGraph& graph, const std::vector<Duration>& ran, std::size_t lanes);

}  // namespace dag::detail
