#include "tools/dag/cluster/drained.hpp"

#include <algorithm>

namespace dag::tool {
namespace {

bool contains(const std::vector<ProcessId>& nodes, ProcessId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

bool is_copy_left(ProcessId node, const std::vector<NodeInfo>& nodes, const std::vector<ProcessId>& copies) {
  if (!contains(copies, node)) return false;
  std::size_t others = 0;
  for (const NodeInfo& one : nodes) {
    if (one.life.process == node || !is_up(one.state)) continue;
    const bool has = contains(copies, one.life.process);
    if (!has && one.load.disk != 0 && !one.load.draining) return true;
    others += has ? 1 : 0;
  }
  return others < copies.size() / 2 + 1;
}

void insert(std::vector<JobId>& jobs, JobId job) {
  const auto at = std::lower_bound(jobs.begin(), jobs.end(), job);
  if (at == jobs.end() || *at != job) jobs.insert(at, job);
}

}  // namespace

LeftAt left_at(ProcessId node, const std::vector<NodeInfo>& nodes, const std::vector<JobSaid>& said) {
  LeftAt left;
  for (const auto& [by, job] : said) {
    if (job.copies.empty()) continue;  // Said by a node that does not lead it, or nobody needs it.
    if (by == node) insert(left.led, job.job);
    if (is_copy_left(node, nodes, job.copies)) insert(left.copies, job.job);
    const bool process = std::any_of(job.workers.begin(), job.workers.end(), [&](const WorkerInfo& worker) {
      return worker.up && worker.node == node;
    });
    if (process) insert(left.processes, job.job);
  }
  return left;
}

}  // namespace dag::tool
