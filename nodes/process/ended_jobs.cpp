#include "nodes/process/ended_jobs.hpp"

#include <numeric>
#include <vector>

#include "libdag/graph/data_edges.hpp"

namespace dag {

void EndedJobs::begin(JobId job, std::shared_ptr<const detail::Fragment> graph) {
  const std::lock_guard lock(mutex_);
  jobs_[job].graph = std::move(graph);
}

bool EndedJobs::want(JobId id, std::uint32_t task) {
  const std::lock_guard lock(mutex_);
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return false;
  job->second.asked.insert(task);
  ports_.want(id, task);
  return true;
}

void EndedJobs::settled(JobId id, std::uint32_t task) {
  const std::lock_guard lock(mutex_);
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  job->second.asked.erase(task);
  if (job->second.graph) job->second.had.insert(task);
  look(job);
}

void EndedJobs::ended(JobId id, bool all_finished) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.graph || found->second.graph->size() > tasks_max) return;
  Job& job = found->second;
  const auto graph = std::exchange(job.graph, nullptr);
  std::vector<std::uint32_t> tasks(graph->size());
  std::iota(tasks.begin(), tasks.end(), 0U);
  if (all_finished) tasks = results_of(*graph);
  job.waits = tasks.size() < graph->size();
  if (job.waits) {
    ports_.later(asks_within, [this, id] {
      const std::lock_guard again(mutex_);
      const auto waiting = jobs_.find(id);
      if (waiting == jobs_.end()) return;
      waiting->second.waits = false;
      look(waiting);
    });
  }
  for (const std::uint32_t task : tasks) {
    if (!job.had.contains(task) && job.asked.insert(task).second) ports_.want(id, task);
  }
  look(found);
}

void EndedJobs::forget(JobId job) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(job);
}

void EndedJobs::look(std::map<JobId, Job>::iterator job) {
  if (job->second.waits || !job->second.asked.empty()) return;
  const JobId id = job->first;
  jobs_.erase(job);
  ports_.let_go(id);
}

}  // namespace dag
