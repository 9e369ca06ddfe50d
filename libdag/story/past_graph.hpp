#pragma once
// The graph of a job as journals know it, and what became of its tasks: to be drawn while it runs, and when
// it is over.

#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/drawing/drawing.hpp"
#include "libdag/drawing/layout.hpp"
#include "libdag/journal/record.hpp"
#include "libdag/story/journal_view.hpp"

namespace dag::detail {

struct PastGraph {
  std::string name;  ///< the job's; empty: the journals do not go back to its beginning
  /// Good for drawing: tasks with their names and edges, in the order of their ids. What was spawned waits
  /// for what spawned it.
  Fragment fragment;
  // Of each task.
  std::vector<TaskId> tasks;
  std::vector<Outcome> outcomes;  ///< none: not settled
  std::vector<Duration> ran;      ///< its newest run; zero: none came back
};

/// Reads these journals. Without tasks: they say nothing of what waits for what. `notices` gets what could
/// not be read. Throws Failure(usage) when there is no journal in one of them.
PastGraph read_graph(const JournalPaths& journals, JobId job, std::vector<std::string>& notices);

/// A drawing with its places.
struct GraphPicture {
  Drawing drawing;
  std::vector<Box> boxes;  ///< of each node
};
GraphPicture picture_of(const PastGraph& graph);

}  // namespace dag::detail
