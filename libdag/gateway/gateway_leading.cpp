// How a gateway comes to lead a job whose record has several copies, and how it stops
// leading.

#include <algorithm>

#include "libdag/gateway/gateway.hpp"

namespace dag {

void GatewayMachine::on_led(RecordLed news, Instant now) {
  const JobId id = news.plan->job;
  unread_.erase(id);
  std::uint32_t& seen = handles_seen_[node_of(id)];
  seen = std::max(seen, static_cast<std::uint32_t>(id.value));
  const bool is_new = jobs_.peek(id) == nullptr;
  KeptJob& job = is_new ? jobs_.add(id) : *jobs_.find(id);
  if (is_new) {
    job.name = news.plan->name;
    job.graph = news.plan->graph;
    job.total = job.graph->total;
    job.launch = news.submission.launch;
    job.key = news.submission.key;
    job.retries = news.submission.retries;
    job.detached = news.submission.detached;
    job.representation = news.plan->representation;
    job.recorded = true;
    job.state = KeptJob::Following{};
    job.accepted = now - news.age;
    job.counts.open = job.graph->size();
  }
  job.leader = news.leader;
  job.copies = std::move(news.copies);
  job.without_majority = news.without_majority;
  const bool another_leads = !news.leads && news.leader && *news.leader != self_.process;
  if (job.submitter && news.settled && another_leads) {
    // Another node was faster, and leads the job from the start.
    accept(id, job);
    return step_down(id, job, now);
  }
  if (news.cancelled && !std::exchange(job.cancelled, true)) {
    answer_cancelling(id, job);
    if (news.leads && job.leads() && !job.begun() && !job.over()) return end_before_it_began(id, job, now);
  }
  if (!news.leads) {
    if (job.leads()) step_down(id, job, now);
    return hand_over(id, job);
  }
  if (job.leads()) return;
  const auto* const followed = std::get_if<KeptJob::Following>(&job.state);
  const bool was_refused = followed != nullptr && followed->refused;
  const bool was_over = job.over();
  job.lead(news.begun && !was_refused);
  job.term = news.term;
  if (job.submitter) {
    accept(id, job);
  } else if (!job.client && !news.submission.detached) {
    job.client_until = now + client_grace;
  }
  if (job.is_closed()) return close_again(id);
  if (was_refused) {
    job.error = Error{
        ErrorCode::no_quorum, "the job was refused because its record did not get its copies in time", {}};
    job.client.reset();
    job.client_until.reset();
    return end(id, job, JobPhase::cancelled, now);
  }
  if (job.cancelled && !job.begun()) {
    end_before_it_began(id, job, now);
    // The leader before this one may have had some started.
    return stop_workers_everywhere(id);
  }
  if (was_over && !job.begun()) {  // Clients were told how it ended.
    rest_or_close(id, job);
    return stop_workers_everywhere(id);
  }
  job.earlier = std::move(news.lives);
  bury_earlier(id, job);
  start_workers(id, job, now);
  for (const std::uint32_t task : std::exchange(job.wanted, {})) ask_for(id, job, task, job.client);
  if (was_over) gather_results(id, job);
}

/// Closes a job again: the close may have been lost with the lead, and the next leader went on.
void GatewayMachine::close_again(JobId id) {
  effects_.emplace_back(CloseJob{id});
  stop_workers_everywhere(id);
}

void GatewayMachine::stop_workers_everywhere(JobId id) {
  for (const auto& [node, claim] : nodes_) {
    effects_.emplace_back(SendToKeeper{node, keeper::StopWorkers{id}});
  }
}

void GatewayMachine::accept(JobId id, KeptJob& job) {
  client::Answer accepted;
  accepted.number = job.submitter->second;
  accepted.job = id;
  answer(std::exchange(job.submitter, std::nullopt)->first, std::move(accepted));
}

void GatewayMachine::step_down(JobId id, KeptJob& job, Instant now) {
  job.follow();
  if (job.is_closed()) return;
  for (const Worker& worker : job.workers) {
    if (worker.phase <= Worker::Phase::up) job.had_started_at.insert(worker.node);
  }
  job.workers.clear();
  job.earlier.clear();
  job.numbers.clear();
  for (const auto& [client, number] : std::exchange(job.waiting, {}))
    send_elsewhere(client, number, id, job, now);
  for (const Cancelling& one : std::exchange(job.cancelling, {}))
    send_elsewhere(one.client, one.number, id, job, now);
  send_to_followers(job, client::JobMoved{id});
  job.client.reset();
  job.attached.clear();
  // The next leader tells the job's followers, and keeps its results.
  forget_results(job);
}

/// Until another leader is known the processes go on: this node may come to lead again.
void GatewayMachine::hand_over(JobId id, KeptJob& job) {
  const bool record_gone = job.over() && job.ended()->record_gone;
  if (!record_gone && (!job.leader || *job.leader == self_.process)) return;
  let_hosts_go(id, job);
}

void GatewayMachine::let_hosts_go(JobId id, KeptJob& job) {
  for (const Life host : std::exchange(job.had_started_at, {}))
    effects_.emplace_back(SendToKeeper{host, keeper::AnotherLeads{id}});
}

void GatewayMachine::on_record_over(JobId id, Instant now) {
  unread_.erase(id);
  KeptJob* const found = jobs_.find(id);
  if (found == nullptr) return;
  KeptJob& job = *found;
  let_hosts_go(id, job);
  if (KeptJob::Over* const over = job.ended()) {
    over->record_gone = true;
    return;
  }
  for (const auto& [client, number] : job.waiting) send_elsewhere(client, number, id, job, now);
  for (const Cancelling& one : job.cancelling) send_elsewhere(one.client, one.number, id, job, now);
  if (job.submitter) {
    refuse(job.submitter->first, job.submitter->second,
           {ErrorCode::job_unknown, "other nodes remember another " + to_string(id), "submit again"});
  }
  forget_results(job);
  jobs_.erase(id);
}

}  // namespace dag
