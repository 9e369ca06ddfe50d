#pragma once
// What waited for what in a job, as its records say, and which chain of tasks took longest: with any number
// of lanes the job would have taken as long.

#include <map>
#include <utility>
#include <vector>

#include "libdag/base/time.hpp"
#include "libdag/record/record.hpp"

namespace dag::detail {

class JobGraph {
 public:
  struct Edge {
    TaskId from, to;
    std::uint8_t kind = 0;  ///< EdgeKind
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

/// The longest chain, by how long its tasks ran: from the first one to the last. Those that did not run take
/// no time. (Kelley and Walker, 1959: Critical-path planning and scheduling.)
struct CriticalPath {
  Duration length{0};
  std::vector<TaskId> tasks;
};
CriticalPath critical_path(const std::vector<JobGraph::Edge>& edges, const std::map<TaskId, Duration>& ran);

}  // namespace dag::detail
