#include "libdag/gateway/gateway.hpp"

#include <algorithm>

#include "libdag/keeper/job_story.hpp"

namespace dag {

JobId job_of_node(ProcessId node, std::uint32_t count) { return {std::uint64_t{node.value} << 32 | count}; }
ProcessId node_of(JobId job) { return {static_cast<std::uint32_t>(job.value >> 32)}; }

// ---- Clients

/// The node has just started, and does not know yet which nodes are there: itself, and others it was told of.
bool GatewayMachine::is_early(const ClientMessage& message, Instant now) const {
  const bool begins = std::holds_alternative<client::AskHandle>(message);
  const bool submits = std::holds_alternative<client::AskSubmit>(message);
  if (!begins && !submits && !std::holds_alternative<client::AskNodes>(message)) return false;
  if (!began_) return true;
  if (!expects_peers_ || nodes_.size() > 1 || now >= *began_ + meets_peers_within) return false;
  // A node that takes no jobs names one that does.
  return begins ? !takes_jobs(self_) : submits && recorded_;
}

void GatewayMachine::answer_early(Instant now) {
  for (auto& [client, question] : std::exchange(asked_early_, {}))
    on_client_message(client, std::move(question), now);
}

void GatewayMachine::on_client_message(Life from, ClientMessage any, Instant now) {
  if (is_early(any, now)) {
    asked_early_.emplace_back(from, std::move(any));
    return;
  }
  std::visit(
      [&](auto& message) {
        using Message = std::remove_cvref_t<decltype(message)>;
        if constexpr (requires { JobId{message.job}; }) {
          if (jobs_.peek(message.job) != nullptr) asked_about_[from].insert(message.job);
        }
        if constexpr (std::is_same_v<Message, client::Want>) {
          want(from, message);
        } else if constexpr (std::is_same_v<Message, client::ForgetJob>) {
          forget(from, message.job);
        } else if constexpr (requires { ask(from, message, now); }) {
          ask(from, message, now);
        }
      },
      any);
}

void GatewayMachine::forget(Life client, JobId id) {
  KeptJob* const job = jobs_.find(id);
  if (job == nullptr) return;
  let_go(client, id, *job);
  const bool waits = std::any_of(job->waiting.begin(), job->waiting.end(),
                                 [&](const auto& one) { return one.first == client; }) ||
                     std::any_of(job->cancelling.begin(), job->cancelling.end(),
                                 [&](const Cancelling& one) { return one.client == client; });
  if (!waits) asked_about_[client].erase(id);
}

/// The client will ask for nothing of the job any more.
void GatewayMachine::let_go(Life client, JobId id, KeptJob& job) {
  if (job.attached.erase(client) == 0 && job.client != client) return;
  if (job.client == client) job.client.reset();
  for (auto& [task, who] : job.asked) who.erase(client);
  close_if_unwanted(id, job);
}

void GatewayMachine::on_client_gone(Life client, Instant) {
  if (const auto about = asked_about_.extract(client)) {
    for (const JobId id : about.mapped()) {
      KeptJob* const job = jobs_.find(id);
      if (job == nullptr) continue;
      std::erase_if(job->waiting, [&](const auto& question) { return question.first == client; });
      std::erase_if(job->cancelling, [&](const Cancelling& one) { return one.client == client; });
      let_go(client, id, *job);
    }
  }
  std::erase_if(waiting_for_program_, [&](const auto& one) { return one.first == client; });
  std::erase_if(asked_early_, [&](const auto& one) { return one.first == client; });
  std::erase_if(spreading_, [&](const Spreading& one) { return one.client == client; });
  std::erase_if(retries_waiting_, [&](const WaitingRetry& one) { return one.client == client; });
  explaining_.on_client_gone(client);
  effects_.emplace_back(ForgetLife{client});
}

void GatewayMachine::answer(Life to, client::Answer answer) {
  effects_.emplace_back(SendToClient{to, std::move(answer)});
}

void GatewayMachine::refuse(Life to, std::uint64_t number, Error why) {
  client::Answer no;
  no.number = number;
  no.error = std::move(why);
  answer(to, std::move(no));
}

KeptJob* GatewayMachine::known(Life from, std::uint64_t number, JobId job, Instant now) {
  KeptJob* const found = jobs_.find(job);
  if (found != nullptr && (found->leads() || found->over())) return found;
  if (found != nullptr) {
    send_elsewhere(from, number, job, *found, now);
    return nullptr;
  }
  if (unread_.contains(job)) {
    refuse(from, number,
           {ErrorCode::job_elsewhere,
            to_string(self_.process) + " has just started and is reading the record of " + to_string(job),
            "ask again a little later"});
    return nullptr;
  }
  refuse(from, number,
         {ErrorCode::job_unknown, to_string(self_.process) + " knows no " + to_string(job),
          "`dag ls` lists the jobs. Old jobs are dropped from memory; see `dag history`"});
  return nullptr;
}

void GatewayMachine::send_elsewhere(Life to, std::uint64_t number, JobId id, const KeptJob& job,
                                    Instant now) {
  client::Answer no;
  no.number = number;
  no.error = no_quorum(id, job, now);
  if (!no.error) {
    no.error =
        Error{ErrorCode::job_elsewhere, "another node leads the record of this job, or will in a moment",
              "ask that node, or ask again a little later"};
  }
  for (const auto& [life, claim] : nodes_) {
    if (job.leader == life.process && life != self_) no.elsewhere = claim.endpoint.control;
  }
  answer(to, std::move(no));
}

/// Goes on with what the client wanted of another node.
void GatewayMachine::ask(Life from, const client::AskFollow& ask, Instant now) {
  if (const KeptJob* found = jobs_.peek(ask.job); found != nullptr && is_another(*found, ask.key))
    return refuse_handle(from, ask.number, ask.job);
  KeptJob* job = known(from, ask.number, ask.job, now);
  if (job == nullptr) return;
  // The job has ended, and its outputs may still be on their way: the leader has them.
  if (!job->leads() && !job->is_closed()) return send_elsewhere(from, ask.number, ask.job, *job, now);
  if (ask.attaches) {
    job->attached.insert(from);
  } else {
    job->client = from;
    job->client_until.reset();
  }
  client::Answer reply;
  reply.number = ask.number;
  reply.job = ask.job;
  answer(from, std::move(reply));
  for (const std::uint32_t task : ask.tasks) want(from, {ask.job, task});
  if (job->over() && job->ended()->speaking.empty())
    effects_.emplace_back(SendToClient{from, client::JobEnded{ask.job, job->error, job->counts}});
}

void GatewayMachine::ask(Life from, const client::AskNodes& ask, Instant now) {
  client::Answer reply;
  reply.number = ask.number;
  for (const auto& [life, claim] : nodes_) {
    NodeInfo node{life, claim.state, claim.endpoint, claim.load, 0, 0, {}, {}};
    if (const auto heard = heard_.find(life.process); heard != heard_.end())
      node.heard = HeardOf{now - heard->second.last, heard->second.round_trip};
    if (life == self_) {
      node.pid = pid_;
      node.not_ready = not_ready(now);
      node.jobs =
          static_cast<std::uint32_t>(std::count_if(jobs_.awake().begin(), jobs_.awake().end(), [&](JobId id) {
            const KeptJob& job = jobs_.at(id);
            return job.leads() && !job.over();
          }));
    }
    reply.nodes.insert(life == self_ ? reply.nodes.begin() : reply.nodes.end(), std::move(node));
  }
  answer(from, std::move(reply));
}

void GatewayMachine::ask(Life from, const client::AskJobs& ask, Instant now) {
  client::Answer reply;
  reply.number = ask.number;
  if (ask.job) {
    const KeptJob* job = known(from, ask.number, *ask.job, now);
    if (job == nullptr) return;
    reply.jobs.push_back(info(*ask.job, *job, now, true));
  } else {
    for (const auto& [id, job] : jobs_.all()) {
      if (job.leads() || job.over() || no_quorum(id, job, now))
        reply.jobs.push_back(info(id, job, now, false));
    }
    for (const JobId id : unread_) {
      if (jobs_.peek(id) != nullptr) continue;
      JobInfo& unread = reply.jobs.emplace_back();
      unread.job = id;
      unread.phase = JobPhase::recovering;
    }
    reply.jobs_beyond = ask.which.choose(reply.jobs);
  }
  answer(from, std::move(reply));
}

void GatewayMachine::ask(Life from, const client::AskEnd& ask, Instant now) {
  KeptJob* job = known(from, ask.number, ask.job, now);
  if (job == nullptr) return;
  if (!job->over()) {
    job->waiting.emplace_back(from, ask.number);
    return;
  }
  client::Answer reply;
  reply.number = ask.number;
  reply.jobs.push_back(info(ask.job, *job, now, true));
  answer(from, std::move(reply));
}

void GatewayMachine::ask(Life from, const client::AskCancel& ask, Instant now) {
  KeptJob* job = known(from, ask.number, ask.job, now);
  if (job == nullptr) return;
  job->cancelling.push_back({from, ask.number, now + cancel_within});
  if (job->over() || job->cancelled) return answer_cancelling(ask.job, *job);
  // If the record has copies, on_led reports when a majority has the cancelling.
  if (job->begun() || job->recorded) effects_.emplace_back(CancelJob{ask.job});
  if (job->recorded) return;
  job->cancelled = true;
  if (!job->begun()) return end_before_it_began(ask.job, *job, now);
  answer_cancelling(ask.job, *job);
}

void GatewayMachine::answer_cancelling(JobId id, KeptJob& job) {
  for (const Cancelling& one : std::exchange(job.cancelling, {})) {
    client::Answer reply;
    reply.number = one.number;
    reply.job = id;
    answer(one.client, std::move(reply));
  }
}

/// The cancelling may be recorded all the same; the client learns that when it asks again.
void GatewayMachine::refuse_cancelling(JobId id, KeptJob& job, Instant now) {
  std::erase_if(job.cancelling, [&](const Cancelling& one) {
    if (now < one.until) return false;
    refuse(one.client, one.number,
           {ErrorCode::no_quorum,
            "less than a majority of the nodes with the record of " + to_string(id) +
                " have recorded within 5 s that the job is cancelled",
            "cancel the job again, which does no harm; `dag node list` shows which nodes are up"});
    return true;
  });
}

void GatewayMachine::ask(Life from, const client::AskDrain& ask, Instant) {
  const bool others = std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& one) {
    return one.first != self_ && takes_jobs(one.first);
  });
  if (ask.draining && !others) {
    return refuse(from, ask.number,
                  {ErrorCode::needs_impossible,
                   "no other node accepts jobs, so " + to_string(self_.process) + " cannot be drained",
                   "start another node first, or cancel a drain with `dag node undrain`; `dag down` ends "
                   "all"});
  }
  client::Answer reply;
  reply.number = ask.number;
  answer(from, std::move(reply));
  effects_.emplace_back(Drain{ask.draining});
}

void GatewayMachine::ask(Life from, const client::AskShutdown& ask, Instant) {
  client::Answer reply;
  reply.number = ask.number;
  answer(from, std::move(reply));
  effects_.emplace_back(ShutDown{});
}

// ---- What is known

std::optional<Life> GatewayMachine::client_of(JobId job) const {
  const KeptJob* const found = jobs_.peek(job);
  return found == nullptr ? std::nullopt : found->client;
}

/// Progress of processes that are up, by task.
std::vector<TaskProgress> GatewayMachine::progress_of(const KeptJob& job) {
  std::vector<TaskProgress> progress;
  for (const Worker& worker : job.workers) {
    if (job.is_closed() || worker.phase != Worker::Phase::up) continue;
    for (auto at = job.progress.lower_bound({worker.life, ""});
         at != job.progress.end() && at->first.first == worker.life; ++at)
      progress.push_back(at->second);
  }
  std::sort(progress.begin(), progress.end(),
            [](const TaskProgress& a, const TaskProgress& b) { return a.task < b.task; });
  if (progress.size() > JobStory::tasks_max) progress.resize(JobStory::tasks_max);
  return progress;
}

JobInfo GatewayMachine::info(JobId id, const KeptJob& job, Instant now, bool in_full) const {
  JobInfo info{id,         job.name,  job.phase(),  job.counts, job.last_moment(now) - job.accepted,
               {},         job.error, std::nullopt, {},         job.total,
               job.retries};
  if (job.leads() && !job.is_closed()) info.copies = job.recorded ? job.copies : std::vector{self_.process};
  if (in_full && job.details) {
    info.details = job.details;
    info.details->progress = progress_of(job);
  }
  if (auto alone = no_quorum(id, job, now)) {
    info.phase = JobPhase::no_quorum;
    info.error = std::move(alone);
  }
  for (const Worker& worker : job.workers) {
    info.workers.push_back({worker.life, worker.node.process, worker.pid,
                            worker.phase == Worker::Phase::up && !job.is_closed(), worker.end});
  }
  return info;
}

}  // namespace dag
