#pragma once
// The graph of a job out of journals, with the outcomes of its tasks: drawn while the job runs and when it is
// over.

#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/drawing/drawing.hpp"
#include "libdag/drawing/layout.hpp"
#include "libdag/journal/event.hpp"
#include "libdag/story/journal_view.hpp"

namespace dag::detail {

struct PastGraph {
  std::string name;  ///< the job's; empty: the journals do not go back to its beginning
  /// For drawing: tasks with names and edges, in the order of their ids. Spawned tasks wait for their
  /// parent.
  Fragment fragment;
  // Indexed by task.
  std::vector<TaskId> tasks;
  std::vector<Outcome> outcomes;  ///< none: not settled
  std::vector<Duration> ran;      ///< of its newest run; zero: no run ended
};

/// Reads these journals. Without tasks: the journals have no edges. `notices` gets the gaps. Throws
/// Failure(usage) when there is no journal at one of the paths.
PastGraph read_graph(const JournalPaths& journals, JobId job, std::vector<std::string>& notices);

/// A drawing with the boxes of its nodes.
struct GraphPicture {
  Drawing drawing;
  std::vector<Box> boxes;  ///< one for each node
};
GraphPicture picture_of(const PastGraph& graph);

}  // namespace dag::detail
