#include "libdag/client/held.hpp"

#include <algorithm>
#include <utility>

#include "libdag/client/explain.hpp"

namespace dag::detail {

JobHeld held_by(Cluster& cluster, const JobInfo& job) {
  TaskSelector what = selector_of_none();
  what.outputs = true;
  client::Answer answer = cluster.explain(job.job, what);
  JobHeld held{job.job, job.name, 0, 0, {}, std::move(answer.silent)};
  for (ProcessExplained& process : answer.explained) {
    for (const HeldOutputs& one : process.held) {
      held.outputs += one.outputs;
      held.bytes += one.bytes;
    }
    held.processes.push_back({process.life, std::move(process.held)});
  }
  std::sort(held.processes.begin(), held.processes.end(),
            [](const ProcessHeld& a, const ProcessHeld& b) { return a.life < b.life; });
  return held;
}

}  // namespace dag::detail
