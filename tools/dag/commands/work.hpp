#pragma once
// Runs a graph of commands or replayed tasks, for `dag exec` and `dag flow`, in the user's cluster or in this
// process: shows its progress, ends it on Ctrl-C, and reports its result.

#include <dag/dag.hpp>
#include <string>
#include <vector>

#include "tools/dag/commands/command_kernel.hpp"
#include "tools/dag/options.hpp"

namespace dag::tool {

struct WorkTask {
  std::string id;  ///< as the user knows it
  Output<void> output;
  std::string files = {};  ///< CommandLine::files
};

struct WorkOptions {
  SharedOptions cluster;
  bool here = false;        ///< no cluster is looked for
  std::uint32_t lanes = 0;  ///< tasks at a time, here; 0: as many as there are cores
  std::string output;       ///< directory for files with commands' output; empty: the default
};
/// --address and others, --local, --lanes, --output.
void add_work_options(CLI::App& command, WorkOptions& options);

/// Where the work is done.
struct WorkPlace {
  std::string address;    ///< of a node; empty: in this process
  std::string directory;  ///< this process's
};
/// Names the cluster on stderr, unless the user has named it. Throws Failure(usage) for options that only
/// make sense in this process.
WorkPlace place_of_work(const WorkOptions& options);
/// The command as it is started there. `label` names its files.
CommandLine placed(CommandLine command, const std::string& label, const WorkPlace& place,
                   const WorkOptions& options);

/// The exit status. `tasks` in the order of their numbers.
int run_work(Graph& graph, const std::vector<WorkTask>& tasks, const WorkPlace& place,
             const WorkOptions& options);

/// When a node started this program to run commands as kernels: does that, and never returns.
void serve_if_started_by_node();

}  // namespace dag::tool
