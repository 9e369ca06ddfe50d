#pragma once
// For what the tasks of a job waited before they ran, and whether lanes had nothing to do meanwhile: worked
// out from when each could have begun, when it did, and what lanes did until then.

#include <cstdint>
#include <utility>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"
#include "libdag/story/job_graph.hpp"

namespace dag::detail {

/// When, in ns since 1970 by the clocks of the nodes.
struct TaskTimes {
  bool ran = false;                                  ///< if not, nothing else counts
  std::int64_t known = 0;                            ///< since when it was a task of the job
  std::int64_t first_begin = 0, begin = 0, end = 0;  ///< of its first run, and of its newest one
  Duration transfer{0};                              ///< until inputs from elsewhere had come, at most
  Duration retries{0};                               ///< from a run that failed to the next one, all together
  std::int64_t lost = 0;  ///< when an attempt before the first run was lost; 0: none was
  ProcessId node;         ///< of its first run
};

/// From its beginning to its end each task waits for one of these at a time.
struct Waiting {
  Duration dependencies{0};  ///< others had not ended
  Duration transfer{0};      ///< inputs were on their way
  Duration resources{0};     ///< all lanes of all nodes ran others
  Duration queue{0};  ///< all lanes of the node that ran it then did, and another node had one to spare
  Duration retry{0};  ///< an attempt had failed or was lost
  Duration other{0};  ///< to be placed, sent, and begun
  /// Of all lanes together, between the first beginning and the last end.
  Duration idle{0};
  Duration idle_while_ready{0};  ///< of it, while so many tasks could have begun and had not
  /// Of it, at other nodes than the one at which most lanes were idle: what a task that needs as many as
  /// possible at once could not have had. Its share of `idle` is the fragmentation.
  Duration idle_scattered{0};
};

using Span = std::pair<std::int64_t, std::int64_t>;

/// When the last of those that each waits for had ended, by place; 0: none of them ran.
std::vector<std::int64_t> ends_before(const PlacedGraph& graph, const std::vector<TaskTimes>& times);

/// When the task could have begun, and when it did; of those that ran, by place. Empty ones are left out.
std::vector<Span> ready_spans(const PlacedGraph& graph, const std::vector<TaskTimes>& times);

/// What one lane ran, in any order.
struct LaneSpans {
  ProcessId node;
  std::vector<Span> ran = {};
};

/// `times`: by place in the graph.
Waiting waiting(const PlacedGraph& graph, const std::vector<TaskTimes>& times,
                const std::vector<LaneSpans>& lanes);

}  // namespace dag::detail
