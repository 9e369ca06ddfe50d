// Results of ended jobs, which a gateway keeps so that the jobs' processes can end.

#include <algorithm>

#include "libdag/gateway/gateway.hpp"
#include "libdag/graph/data_edges.hpp"

namespace dag {
namespace {

Error no_results(JobId job) {
  return {ErrorCode::output_released, "the results of " + to_string(job) + " are not kept any more",
          "results of `dag submit` are kept for a time, results_kept_for of dagd; other results until their "
          "program releases them"};
}

}  // namespace

void GatewayMachine::want(Life from, const client::Want& want) {
  KeptJob* const found = jobs_.find(want.job);
  const auto lost = [&](Error why) {
    effects_.emplace_back(SendToClient{from, client::JobLost{want.job, std::move(why)}});
  };
  if (found == nullptr) return lost({ErrorCode::job_unknown, "no such job: " + to_string(want.job)});
  KeptJob& job = *found;
  if (job.is_closed()) {
    return lost(job.error.value_or(no_results(want.job)));
  }
  if (job.client != from && !job.attached.contains(from)) return;
  if (const auto known = job.results.find(want.task); known != job.results.end()) {
    effects_.emplace_back(SendToClient{from, known->second});
  } else if (want.task < job.graph->size() && job.leads() && (job.begun() || job.recorded)) {
    ask_for(want.job, job, want.task, from);
  } else if (job.client == from && want.task < job.graph->size()) {
    job.wanted.insert(want.task);
  }
}

void GatewayMachine::ask_for(JobId id, KeptJob& job, std::uint32_t task, std::optional<Life> who) {
  const auto [asked, is_new] = job.asked.try_emplace(task);
  if (who) asked->second.insert(*who);
  if (is_new) effects_.emplace_back(WantOutput{id, task, job.is_at_rest()});
}

void GatewayMachine::on_settled(JobId id, client::TaskSettled settled) {
  KeptJob* const found = jobs_.find(id);
  if (found == nullptr || found->is_closed()) return;
  KeptJob& job = *found;
  for (const Life who : std::exchange(job.asked[settled.task], {}))
    effects_.emplace_back(SendToClient{who, settled});
  job.asked.erase(settled.task);
  keep_result(job, std::move(settled));
  gather_more(id, job);
}

void GatewayMachine::on_unread(JobId job, std::vector<std::uint32_t> tasks) {
  if (KeptJob* found = jobs_.find(job)) found->unread = std::move(tasks);
}

void GatewayMachine::keep_result(KeptJob& job, client::TaskSettled settled) {
  if (job.results.contains(settled.task) || job.spilling.contains(settled.task)) return;
  const bool has_room = job.results.size() + job.spilling.size() < results_max;
  if (has_room && results_bytes_ + settled.output.size_bytes() <= results_limits_.bytes_max) {
    results_bytes_ += settled.output.size_bytes();
    job.results.emplace(settled.task, std::move(settled));
  } else if (has_room && results_limits_.spills) {
    job.spilling.insert(settled.task);
    effects_.emplace_back(SpillResult{std::move(settled)});
  } else {
    release_result(job, std::move(settled));
  }
}

/// If the job has a client: its processes have the output, and stay.
void GatewayMachine::release_result(KeptJob& job, client::TaskSettled settled) {
  if (!job.detached) {
    KeptJob::Over* const over = job.ended();
    if (over != nullptr && over->stage == KeptJob::Over::Stage::gathers)
      over->stage = KeptJob::Over::Stage::stays;
    return;
  }
  settled.output = {};
  settled.error = Error{ErrorCode::output_released,
                        "the output was released when its job had ended: the node keeps " +
                            std::to_string(results_limits_.bytes_max >> 20) + " MiB of results, and is full",
                        "attach to the job before it ends, or let the task write a file"};
  job.results.emplace(settled.task, std::move(settled));
}

void GatewayMachine::on_spilled(client::TaskSettled settled, bool written) {
  const JobId id = settled.job;
  KeptJob* const found = jobs_.find(id);
  if (found == nullptr || found->spilling.erase(settled.task) == 0) return;
  KeptJob& job = *found;
  if (written) {
    job.spilled.insert(settled.task);
    job.results.emplace(settled.task, std::move(settled));
  } else {
    release_result(job, std::move(settled));
  }
  gather_more(id, job);
}

void GatewayMachine::forget_results(KeptJob& job) {
  for (const auto& [task, settled] : job.results) {
    if (!job.spilled.contains(task)) results_bytes_ -= settled.output.size_bytes();
  }
  job.results.clear();
  job.spilled.clear();
  job.spilling.clear();
  job.asked.clear();
  if (KeptJob::Over* const over = job.ended()) {
    over->to_gather.clear();
    over->rest_at.reset();
  }
}

void GatewayMachine::send_to_followers(const KeptJob& job, const ClientMessage& message) {
  if (job.client) effects_.emplace_back(SendToClient{*job.client, message});
  for (const Life one : job.attached) effects_.emplace_back(SendToClient{one, message});
}

void GatewayMachine::ask(Life from, const client::AskOutputs& ask, Instant now) {
  KeptJob* job = known(from, ask.number, ask.job, now);
  if (job == nullptr) return;
  if (!job->leads() && !job->is_closed()) return send_elsewhere(from, ask.number, ask.job, *job, now);
  if (job->is_closed()) {
    return refuse(from, ask.number, no_results(ask.job));
  }
  client::Answer reply;
  reply.number = ask.number;
  const auto tell = [&](std::uint32_t task) {
    if (reply.outputs.size() < outputs_told_max) reply.outputs.push_back({task, job->graph->name(task)});
  };
  if (ask.task.empty()) {
    for (const std::uint32_t task : results_of(*job->graph)) tell(task);
  } else {
    for (std::uint32_t task = 0; task < job->graph->size(); ++task) {
      if (job->graph->name(task) == ask.task) tell(task);
    }
  }
  answer(from, std::move(reply));
}

void GatewayMachine::gather_results(JobId id, KeptJob& job) {
  if (!job.begun() || !job.graph) return;
  KeptJob::Over& over = job.must_have_ended();
  over.to_gather = results_of(*job.graph);
  const bool has_others = over.to_gather.size() < job.graph->size();
  if (job.client && has_others) over.rest_at = over.at + asks_within;
  if (job.detached) over.to_gather.insert(over.to_gather.end(), job.unread.begin(), job.unread.end());
  std::reverse(over.to_gather.begin(), over.to_gather.end());  // The first are asked for first.
  over.stage = KeptJob::Over::Stage::gathers;
  gather_more(id, job);
}

void GatewayMachine::gather_more(JobId id, KeptJob& job) {
  KeptJob::Over* const over = job.ended();
  if (over == nullptr || over->stage != KeptJob::Over::Stage::gathers) return;
  while (!over->to_gather.empty() && job.asked.size() + job.spilling.size() < results_coming_max) {
    const std::uint32_t task = over->to_gather.back();
    over->to_gather.pop_back();
    if (!job.results.contains(task)) ask_for(id, job, task, std::nullopt);
  }
  rest_if_gathered(id, job);
}

/// Nothing is to come, or no results are gathered.
bool GatewayMachine::is_gathered(const KeptJob& job) {
  const KeptJob::Over* const over = job.ended();
  const bool gathers = over != nullptr && (over->stage == KeptJob::Over::Stage::gathers ||
                                           over->stage == KeptJob::Over::Stage::rests);
  return !gathers || (over->to_gather.empty() && job.asked.empty() && job.spilling.empty());
}

/// The record of the job stays, so that small results outlive this node.
void GatewayMachine::rest_if_gathered(JobId id, KeptJob& job) {
  KeptJob::Over* const over = job.ended();
  if (over == nullptr || over->stage != KeptJob::Over::Stage::gathers || over->rest_at) return;
  if (!is_gathered(job)) return;
  over->stage = KeptJob::Over::Stage::rests;
  job.again_at.clear();
  stop_workers(id, job);
}

bool GatewayMachine::may_be_asked(const KeptJob& job) { return job.is_followed() || job.kept_until; }

void GatewayMachine::close_if_unwanted(JobId id, KeptJob& job) {
  if (job.over() && job.leads() && !may_be_asked(job)) close(id, job);
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
