#pragma once
// Task graphs of other programs as plain values: tasks, durations, edges
// and their bytes. Others read the text, and replay, draw or simulate the
// graph.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/base/result.hpp"
#include "libdag/base/time.hpp"

namespace dag {

struct WorkflowTask {
  std::string id;    ///< unique in its workflow
  std::string name;  ///< its class: the same for tasks that do the same work
  Duration takes{0};
  double cpus = 1;
  std::uint64_t memory_bytes = 0;  ///< 0: not stated
  std::string program = {};        ///< empty where the format has none
  std::vector<std::string> arguments = {};
};

struct WorkflowEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t size_bytes = 0;  ///< of the files that `from` writes and `to` reads
};

/// Every edge once, ordered by successor and then as in the file. May have a cycle, which check() reports.
struct Workflow {
  std::string name;
  std::vector<WorkflowTask> tasks;
  std::vector<WorkflowEdge> edges;
};

/// Some editors begin UTF-8 with a mark.
std::string_view without_byte_order_mark(std::string_view text);

/// The beginning of the text tells the format. Errors (configuration_invalid) name line and column, or the
/// task.
Result<Workflow> read_workflow(std::string_view text);

/// WfCommons JSON, WfFormat 1.3 to 1.5 (wfcommons.org).
Result<Workflow> read_wfcommons(std::string_view text);
/// Pegasus DAX 2 and 3: jobs with runtimes, files, child/parent.
Result<Workflow> read_dax(std::string_view text);
/// Kasahara's Standard Task Graph set. `unit` is the unit of its durations.
Result<Workflow> read_stg(std::string_view text, Duration unit = std::chrono::milliseconds(1));

/// The workflow as tasks without kernels, to be checked, ranked, cut and drawn.
detail::Fragment fragment_of(const Workflow& workflow);

}  // namespace dag
