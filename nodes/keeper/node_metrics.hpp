#pragma once
// The metrics of a node of a shared cluster and their names. Pure: node_web.hpp collects the values. No task
// is a label: there may be ten million.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nodes/keeper/job_stories.hpp"
#include "nodes/workers/worker_processes.hpp"

namespace dag {

/// A process's use of resources, as the Linux kernel counts it.
struct ProcessUse {
  Duration cpu{0};
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_files = 0;
  double started_unix_s = 0;
};
ProcessUse use_of_this_process();

/// A node's measurements of itself.
struct NodeMeasures {
  WorkersNow workers;
  RunTotals run;
  std::uint32_t lanes_each = 0;  ///< of its worker processes
  /// The jobs whose record it leads or has led.
  std::map<JobId, TaskCounts> tasks;
  std::array<std::uint64_t, JobStories::outcomes> settled{};
  struct Log {
    std::uint64_t waiting_bytes = 0;
    Duration lag{0};  ///< time since the disk last completed a waiting write
  };
  std::optional<Log> log;  ///< if it has a disk
  ProcessUse process;
  /// Running jobs whose record it leads; the first ones, of many.
  struct Job {
    std::uint64_t output_bytes = 0;
    std::optional<PathLeft> critical_path;  ///< none: not all of its processes have answered
  };
  std::map<JobId, Job> jobs = {};
};

/// All of it, for Prometheus. `nodes`: this one first; `jobs`: those whose record it leads.
std::string metrics_of(const NodeMeasures& measures, const std::vector<NodeInfo>& nodes,
                       const std::vector<JobInfo>& jobs);

}  // namespace dag
