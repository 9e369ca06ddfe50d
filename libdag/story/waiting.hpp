#pragma once
// Waiting times of a job's tasks by cause, and idle times of lanes meanwhile: computed from when each task
// could begin, when it began, and what lanes ran until then.

#include <cstdint>
#include <utility>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"
#include "libdag/story/job_graph.hpp"

namespace dag::detail {

/// When, in ns since 1970 by the clocks of the nodes.
struct TaskTimes {
  bool ran = false;                                  ///< if not, the other fields mean nothing
  std::int64_t known = 0;                            ///< when it became a task of the job
  std::int64_t first_begin = 0, begin = 0, end = 0;  ///< of its first run, and of its newest one
  Duration transfer{0};                              ///< time until remote inputs arrived, at most
  Duration retries{0};                               ///< from failed runs to the next ones, all together
  std::int64_t lost = 0;                             ///< loss of an attempt before the first run; 0: no loss
  ProcessId node;                                    ///< of its first run
};

/// From known to begun, a task waits for exactly one of these causes at any time.
struct Waiting {
  Duration dependencies{0};  ///< predecessors had not ended
  Duration transfer{0};      ///< inputs were being fetched
  Duration resources{0};     ///< all lanes of all nodes were busy
  Duration queue{0};         ///< the node's lanes were busy, and another node had an idle lane
  Duration retry{0};         ///< an attempt had failed or was lost
  Duration other{0};         ///< placement, sending and starting
  /// Idle time of all lanes together, between the first beginning and the last end.
  Duration idle{0};
  Duration idle_while_ready{0};  ///< part of `idle` during which as many ready tasks had not begun
  /// Part of `idle` on nodes other than the one with most idle lanes: a task that needs many lanes at once
  /// could not have had it. Its share of `idle` is the fragmentation.
  Duration idle_scattered{0};
};

using Span = std::pair<std::int64_t, std::int64_t>;

/// When the last of those that each waits for had ended, by place; 0: none of them ran.
std::vector<std::int64_t> ends_before(const PlacedGraph& graph, const std::vector<TaskTimes>& times);

/// When the task could have begun, and when it did; of those that ran, by place. Empty ones are left out.
std::vector<Span> ready_spans(const PlacedGraph& graph, const std::vector<TaskTimes>& times);

/// The runs of a lane, in any order.
struct LaneSpans {
  ProcessId node;
  std::vector<Span> ran = {};
};

/// `times`: by place in the graph.
Waiting waiting(const PlacedGraph& graph, const std::vector<TaskTimes>& times,
                const std::vector<LaneSpans>& lanes);

}  // namespace dag::detail
