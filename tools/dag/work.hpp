#pragma once
// Runs a graph of commands or replayed tasks in this process, for `dag exec` and `dag flow`: shows how far it
// is, ends it on Ctrl-C, and says what came of it.

#include <dag/dag.hpp>
#include <string>
#include <vector>

namespace dag::tool {

struct WorkTask {
  std::string id;  ///< as the user knows it
  Output<void> output;
};

struct WorkOptions {
  std::uint32_t lanes = 0;  ///< tasks at a time; 0: as many as there are cores
  bool json = false;
};

/// The exit status. `tasks` in the order of their numbers.
int run_work(Graph& graph, const std::vector<WorkTask>& tasks, const WorkOptions& options);

}  // namespace dag::tool
