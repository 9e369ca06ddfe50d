#pragma once
// Task graphs of other programs as plain values: what ran, how long it took, who waited for whom and for how
// many bytes. Whether they are replayed, drawn or simulated is for others to say; where the text came from,
// too.

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
  std::string name;  ///< its class: the same for tasks that do the same
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

/// Every edge once, ordered by successor and then as the file has them. May have a cycle: check() says so.
struct Workflow {
  std::string name;
  std::vector<WorkflowTask> tasks;
  std::vector<WorkflowEdge> edges;
};

/// Some editors begin UTF-8 with a mark.
std::string_view without_byte_order_mark(std::string_view text);

/// The format is recognised by how the text begins. Errors (configuration_invalid) name line and column, or
/// the task.
Result<Workflow> read_workflow(std::string_view text);

/// WfCommons JSON, WfFormat 1.3 to 1.5 (wfcommons.org).
Result<Workflow> read_wfcommons(std::string_view text);
/// Pegasus DAX 2 and 3: jobs with runtimes, files, child/parent.
Result<Workflow> read_dax(std::string_view text);
/// Kasahara's Standard Task Graph set. `unit` is what its durations are counted in.
Result<Workflow> read_stg(std::string_view text, Duration unit = std::chrono::milliseconds(1));

/// The same as tasks without kernels, to be checked, ranked, cut and drawn.
detail::Fragment fragment_of(const Workflow& workflow);

}  // namespace dag
