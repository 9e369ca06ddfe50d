// What a gateway keeps of a job that has ended, so that its processes can end.

#include "libdag/graph/data_edges.hpp"
#include "libdag/keeper/gateway.hpp"

namespace dag {
namespace {

/// Tasks of which no other task reads the output: a client asks for these most of all.
std::vector<std::uint32_t> results_of(const detail::Fragment& graph) {
  std::vector<bool> read(graph.size(), false), data;
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    mark_data_edges(graph, task, data);
    const std::span<const detail::EdgeEnd> edges = graph.in_edges(task);
    for (std::size_t edge = 0; edge < edges.size(); ++edge) {
      if (data[edge]) read[edges[edge].task()] = true;
    }
  }
  std::vector<std::uint32_t> results;
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    if (!read[task]) results.push_back(task);
  }
  return results;
}

}  // namespace

void GatewayMachine::want(Life from, const client::Want& want) {
  const auto found = jobs_.find(want.job);
  const auto lost = [&](Error why) {
    effects_.emplace_back(SendToClient{from, client::JobLost{want.job, std::move(why)}});
  };
  if (found == jobs_.end()) return lost({ErrorCode::job_unknown, "no such job: " + to_string(want.job)});
  KeptJob& job = found->second;
  if (job.closed) {
    lost(job.error.value_or(
        Error{ErrorCode::output_lost, "the processes of " + to_string(want.job) + " have ended"}));
  } else if (const auto known = job.results.find(want.task); known != job.results.end()) {
    if (job.client == from) effects_.emplace_back(SendToClient{from, known->second});
  } else if (job.client == from && job.leads && (job.begun || job.recorded)) {
    if (job.at_rest) wake(want.job, job);
    ask_for(want.job, job, want.task);
  } else if (job.client == from && want.task < job.graph->size()) {
    job.wanted.insert(want.task);
  }
}

void GatewayMachine::ask_for(JobId id, KeptJob& job, std::uint32_t task) {
  if (job.asked.insert(task).second) effects_.emplace_back(WantOutput{id, task});
}

void GatewayMachine::on_settled(JobId id, client::TaskSettled settled) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.closed) return;
  KeptJob& job = found->second;
  job.asked.erase(settled.task);
  job.results.insert_or_assign(settled.task, settled);
  if (job.client) effects_.emplace_back(SendToClient{*job.client, std::move(settled)});
  rest_if_gathered(id, job);
}

void GatewayMachine::gather_results(JobId id, KeptJob& job) {
  if (!job.begun || !job.graph) return;
  const std::vector<std::uint32_t> results = results_of(*job.graph);
  if (results.size() > results_max) return;
  for (const std::uint32_t task : results) {
    if (!job.results.contains(task)) ask_for(id, job, task);
  }
  job.gathers = true;
  rest_if_gathered(id, job);
}

/// The record of the job stays, so that small results outlive this node.
void GatewayMachine::rest_if_gathered(JobId id, KeptJob& job) {
  if (!job.gathers || !job.leads || job.closed || job.at_rest || !job.asked.empty()) return;
  job.at_rest = true;
  job.again_at.clear();
  stop_workers(id, job);
}

/// An output is to be made again.
void GatewayMachine::wake(JobId id, KeptJob& job) {
  job.at_rest = false;
  for (const auto& [life, claim] : nodes_) {
    if (runs_jobs(life)) start_worker(id, job, life);
  }
}

void GatewayMachine::stop_workers(JobId id, KeptJob& job) {
  std::set<Life> hosts = std::exchange(job.had_started_at, {});
  for (Worker& worker : job.workers) {
    if (worker.phase > Worker::Phase::up || !nodes_.contains(worker.node)) continue;
    hosts.insert(worker.node);
    worker.replaced = false;
    // Its host owes no word of one that is not up.
    if (worker.phase == Worker::Phase::starting) worker.phase = Worker::Phase::refused;
  }
  for (const Life host : hosts) effects_.emplace_back(SendToKeeper{host, keeper::StopWorkers{id}});
}

}  // namespace dag
