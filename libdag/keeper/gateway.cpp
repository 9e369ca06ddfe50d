#include "libdag/keeper/gateway.hpp"

#include <algorithm>
#include <limits>

#include "libdag/graph/check.hpp"
#include "libdag/keeper/admission.hpp"
#include "libdag/keeper/job_story.hpp"

namespace dag {

JobId job_of_node(ProcessId node, std::uint32_t count) { return {std::uint64_t{node.value} << 32 | count}; }
ProcessId node_of(JobId job) { return {static_cast<std::uint32_t>(job.value >> 32)}; }

// ---- Clients

/// It has just started, and is about to know who is there: itself, and others that it was told of.
bool GatewayMachine::is_early(const ClientMessage& message, Instant now) const {
  const bool begins = std::holds_alternative<client::AskHandle>(message);
  const bool submits = std::holds_alternative<client::AskSubmit>(message);
  if (!begins && !submits && !std::holds_alternative<client::AskNodes>(message)) return false;
  if (!began_) return true;
  if (!expects_peers_ || nodes_.size() > 1 || now >= *began_ + meets_peers_within) return false;
  // Who takes no jobs says who does.
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
        if constexpr (std::is_same_v<Message, client::Want>) {
          want(from, message);
        } else if constexpr (std::is_same_v<Message, client::ForgetJob>) {
          if (const auto job = jobs_.find(message.job); job != jobs_.end())
            let_go(from, message.job, job->second);
        } else if constexpr (requires { ask(from, message, now); }) {
          ask(from, message, now);
        }
      },
      any);
}

/// The client will ask for nothing of the job any more.
void GatewayMachine::let_go(Life client, JobId id, KeptJob& job) {
  if (job.attached.erase(client) == 0 && job.client != client) return;
  if (job.client == client) job.client.reset();
  for (auto& [task, who] : job.asked) who.erase(client);
  close_if_unwanted(id, job);
}

void GatewayMachine::on_client_gone(Life client, Instant) {
  for (auto& [id, job] : jobs_) {
    std::erase_if(job.waiting, [&](const auto& question) { return question.first == client; });
    std::erase_if(job.cancelling, [&](const Cancelling& one) { return one.client == client; });
    let_go(client, id, job);
  }
  std::erase_if(waiting_for_program_, [&](const auto& one) { return one.first == client; });
  std::erase_if(asked_early_, [&](const auto& one) { return one.first == client; });
  std::erase_if(spreading_, [&](const Spreading& one) { return one.client == client; });
  explaining_.on_client_gone(client);
  effects_.emplace_back(ForgetLife{client});
}

void GatewayMachine::on_program(ProgramId program, const std::optional<Error>& refused, Instant now) {
  if (!refused) programs_.insert(program);
  for (auto& [client, submission] : std::exchange(waiting_for_program_, {})) {
    if (submission.launch.program != program) {
      waiting_for_program_.emplace_back(client, std::move(submission));
    } else if (refused) {
      refuse(client, submission.number, *refused);
    } else {
      ask(client, submission, now);
    }
  }
}

std::set<ProgramId> GatewayMachine::needed_programs() const {
  std::set<ProgramId> needed;
  for (const auto& [id, job] : jobs_) {
    if (!job.closed && !job.record_gone) needed.insert(job.launch.program);
  }
  for (const auto& [client, submission] : waiting_for_program_) needed.insert(submission.launch.program);
  for (const Spreading& one : spreading_) needed.insert(one.submission.launch.program);
  return needed;
}

void GatewayMachine::on_program_gone(ProgramId program) {
  programs_.erase(program);
  program_at_.erase(program);
}

bool GatewayMachine::has_program(Life node, ProgramId program, Instant now) const {
  const auto at = program_at_.find(program);
  if (at == program_at_.end()) return false;
  const auto said = at->second.find(node);
  return said != at->second.end() && now - said->second < believed_for;
}

/// As many losses of nodes as the records of jobs outlive leave one that has it.
bool GatewayMachine::outlives_losses(ProgramId program, Instant now) const {
  std::size_t copies = 1;
  for (const auto& [life, claim] : nodes_) copies += has_program(life, program, now) ? 1 : 0;
  const std::size_t odd_number = nodes_.size() - (nodes_.size() % 2 == 0 ? 1 : 0);
  return copies > std::min<std::size_t>(replicas_, odd_number) / 2;
}

/// Every node gets the program in the end, for its worker process; so all are asked, and some are waited for.
void GatewayMachine::spread(Life from, client::AskSubmit ask, Instant until, Instant now) {
  for (const auto& [life, claim] : nodes_) {
    if (life == self_ || has_program(life, ask.launch.program, now)) continue;
    effects_.emplace_back(SendToKeeper{life, keeper::KeepProgram{ask.launch.program}});
  }
  std::erase_if(spreading_,
                [&](const Spreading& one) { return one.client == from && one.submission.job == ask.job; });
  spreading_.push_back({from, std::move(ask), until});
}

/// Nodes or copies of programs have come or gone, or time has passed.
void GatewayMachine::look_at_spreading(Instant now) {
  for (Spreading& one : std::exchange(spreading_, {})) {
    if (outlives_losses(one.submission.launch.program, now)) {
      ask(one.client, one.submission, now);
    } else if (one.until > now) {
      spread(one.client, std::move(one.submission), one.until, now);
    } else {
      refuse(one.client, one.submission.number,
             {ErrorCode::no_quorum,
              "the binary of " + to_string(one.submission.job) +
                  " could not be brought to another node, so a loss of this one would end the job",
              "`dag node list` shows who is there; submit it again when they are"});
    }
  }
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

GatewayMachine::KeptJob* GatewayMachine::known(Life from, std::uint64_t number, JobId job, Instant now) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end() && (found->second.leads || found->second.over())) return &found->second;
  if (found != jobs_.end()) {
    send_elsewhere(from, number, job, found->second, now);
    return nullptr;
  }
  if (unread_.contains(job)) {
    refuse(from, number,
           {ErrorCode::job_elsewhere,
            to_string(self_.process) + " has just started, and reads the record of " + to_string(job),
            "ask it a little later"});
    return nullptr;
  }
  refuse(from, number,
         {ErrorCode::job_unknown, to_string(self_.process) + " knows no " + to_string(job),
          "`dag ls` lists the jobs; a node forgets what ended long ago, and all when it ends"});
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
              "ask that node, or this one a little later"};
  }
  for (const auto& [life, claim] : nodes_) {
    if (job.leader == life.process && life != self_) no.elsewhere = claim.endpoint.control;
  }
  answer(to, std::move(no));
}

void GatewayMachine::ask(Life from, const client::AskHandle& ask, Instant) {
  client::Answer handle;
  handle.number = ask.number;
  for (const auto& [life, claim] : nodes_) {
    if (takes_jobs(life)) handle.elsewhere = claim.endpoint.control;
  }
  const bool takes_it = !nodes_.contains(self_) || takes_jobs(self_) ||
                        (handle.elsewhere.empty() && can_take_jobs(self_));  // Late is better than nowhere.
  if (!takes_it) {
    handle.error = why_no_jobs();
    return answer(from, std::move(handle));
  }
  handle.elsewhere.clear();
  if (jobs_given_ == std::numeric_limits<std::uint32_t>::max()) {
    return refuse(from, ask.number, out_of_handles());
  }
  handle.job = job_of_node(self_.process, ++jobs_given_);
  answer(from, std::move(handle));
}

Error GatewayMachine::out_of_handles() const {
  return {ErrorCode::internal, to_string(self_.process) + " has no more numbers for jobs",
          "ask another node for one, or start this one with an empty data directory"};
}

void GatewayMachine::ask(Life from, client::AskSubmit& ask, Instant now) {
  client::Answer reply;
  reply.number = ask.number;
  reply.job = ask.job;
  if (const auto before = jobs_.find(ask.job); before != jobs_.end()) {
    if (is_another(before->second, ask.key)) return refuse_handle(from, ask.number, ask.job);
    if (!before->second.submitter) answer(from, std::move(reply));
    return;
  }
  if (node_of(ask.job) != self_.process || (ask.job.value & 0xFFFF'FFFF) > jobs_given_) {
    return refuse_handle(from, ask.number, ask.job);
  }
  if (ask.dry_run) {
    if (Status possible = admissible(*ask.graph); !possible)
      return refuse(from, ask.number, possible.error());
    return answer(from, std::move(reply));
  }
  if (!programs_.contains(ask.launch.program)) {
    reply.wants_program = true;
    answer(from, std::move(reply));
    waiting_for_program_.emplace_back(from, std::move(ask));
    return;
  }
  if (Status possible = admissible(*ask.graph); !possible) return refuse(from, ask.number, possible.error());
  if (recorded_ && !outlives_losses(ask.launch.program, now))
    return spread(from, std::move(ask), now + accept_within, now);

  KeptJob& job = jobs_[ask.job];
  job.name = std::move(ask.name);
  job.graph = std::move(ask.graph);
  job.total = job.graph->total;
  job.launch = std::move(ask.launch);
  job.key = ask.key;
  if (ask.supervise_all) job.representation = Representation::supervised;
  job.accepted = now;
  job.counts.open = job.graph->size();
  job.detached = ask.detached;
  if (!ask.detached) job.client = from;
  job.detached = job.detached || ask.kept;
  if (recorded_) {
    job.recorded = true;
    job.leads = false;
    job.submitter = {from, ask.number};
    effects_.emplace_back(
        RecordJob{plan_of(ask.job, job, nodes_.size()), Submission{job.launch, job.detached, 0, job.key}});
    return;
  }
  start_workers(ask.job, job, now);
  answer(from, std::move(reply));
}

/// Sound, and possible on the nodes that run jobs.
Status GatewayMachine::admissible(const detail::Fragment& graph) const {
  if (Status sound = check(graph); !sound) return sound;
  std::vector<NodeDevices> devices;
  for (const auto& [life, claim] : nodes_) {
    if (runs_jobs(life)) devices.push_back(devices_of(life.process, claim.load));
  }
  return admit(graph, devices);
}

bool GatewayMachine::is_another(const KeptJob& job, std::uint64_t key) {
  return key != 0 && job.key != 0 && key != job.key;
}

void GatewayMachine::refuse_handle(Life to, std::uint64_t number, JobId job) {
  refuse(
      to, number,
      {ErrorCode::job_unknown,
       to_string(job) + " is another job, or no handle that " + to_string(self_.process) + " has given out",
       "submit with a new handle"});
}

/// Goes on with what the client wanted of another node.
void GatewayMachine::ask(Life from, const client::AskFollow& ask, Instant now) {
  if (const auto found = jobs_.find(ask.job); found != jobs_.end() && is_another(found->second, ask.key))
    return refuse_handle(from, ask.number, ask.job);
  KeptJob* job = known(from, ask.number, ask.job, now);
  if (job == nullptr) return;
  // It has ended, and outputs of it may still be on their way: from whoever leads it.
  if (!job->leads && !job->closed) return send_elsewhere(from, ask.number, ask.job, *job, now);
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
  if (job->over())
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
      node.jobs = static_cast<std::uint32_t>(std::count_if(jobs_.begin(), jobs_.end(), [](const auto& job) {
        return job.second.leads && !job.second.over();
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
    for (const auto& [id, job] : jobs_) {
      if (job.leads || job.over() || no_quorum(id, job, now)) reply.jobs.push_back(info(id, job, now, false));
    }
    for (const JobId id : unread_) {
      if (jobs_.contains(id)) continue;
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
  // Of a record with copies on_led says when a majority has it.
  if (job->begun || job->recorded) effects_.emplace_back(CancelJob{ask.job});
  if (job->recorded) return;
  job->cancelled = true;
  if (!job->begun) return end_before_it_began(ask.job, *job, now);
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

/// It may come to be recorded all the same, so only who asks again knows.
void GatewayMachine::refuse_cancelling(JobId id, KeptJob& job, Instant now) {
  std::erase_if(job.cancelling, [&](const Cancelling& one) {
    if (now < one.until) return false;
    refuse(one.client, one.number,
           {ErrorCode::no_quorum,
            "less than a majority of the nodes with the record of " + to_string(id) +
                " have written after 5 s that it is cancelled",
            "cancel it again, which does no harm; `dag node list` shows who is there"});
    return true;
  });
}

void GatewayMachine::ask(Life from, const client::AskDrain& ask, Instant) {
  const bool others = std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& one) {
    return one.first != self_ && takes_jobs(one.first);
  });
  if (ask.draining && !others) {
    return refuse(
        from, ask.number,
        {ErrorCode::needs_impossible,
         "no other node takes jobs: nothing that " + to_string(self_.process) + " has could go anywhere",
         "start another node first, or let one take jobs again with `dag node undrain`; `dag down` ends "
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

// ---- The end of a job

void GatewayMachine::on_counts(JobId job, const JobCounts& counts) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end() && !found->second.over()) found->second.counts = counts;
}

void GatewayMachine::on_details(JobId job, JobDetails details) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) found->second.details = std::move(details);
}

void GatewayMachine::on_progress(JobId job, Life process, const std::string& device,
                                 std::optional<TaskProgress> progress) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.over()) return;
  auto& known = found->second.progress;
  const std::pair lane(process, device);
  if (!progress) {
    known.erase(lane);
  } else if (known.contains(lane) || known.size() < progress_lanes_max) {
    if (progress->note.size() > JobStory::text_bytes_max) progress->note.resize(JobStory::text_bytes_max);
    known[lane] = *std::move(progress);
  }
}

bool GatewayMachine::is_new_crash(JobId job, TaskId task, std::uint32_t number) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return false;
  auto& known = found->second.crashes_told;
  const auto told = known.find(task);
  if (told != known.end() && number <= told->second) return false;
  if (told != known.end() || known.size() < crashes_told_max) known[task] = number;
  return true;
}

void GatewayMachine::on_ended(JobId id, const std::optional<Error>& stopped, const JobCounts& counts,
                              Instant now) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.over() || !found->second.leads) return;
  KeptJob& job = found->second;
  job.counts = counts;
  if (stopped) job.error = stopped;
  const bool by_order = job.cancelled && counts.cancelled > 0;
  const JobPhase phase = stopped                            ? JobPhase::failed
                         : by_order                         ? JobPhase::cancelled
                         : counts.failed > counts.tolerated ? JobPhase::failed
                         : counts.cancelled > 0             ? JobPhase::cancelled
                                                            : JobPhase::finished;
  end(id, job, phase, now);
}

void GatewayMachine::on_lost(JobId id, const Error& why, Instant now) {
  unread_.erase(id);
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.over() || !found->second.leads) return;
  // Where there can be no other copy, nothing will come of it.
  if (found->second.recorded && nodes_.size() > 2) return step_down(id, found->second, now);
  found->second.error = why;
  end(id, found->second, JobPhase::failed, now);
}

void GatewayMachine::end_before_it_began(JobId id, KeptJob& job, Instant now) {
  job.error = Error{ErrorCode::task_cancelled, "it was cancelled before it began"};
  job.counts = {0, 0, 0, 0, job.graph->size()};
  end(id, job, JobPhase::cancelled, now);
}

void GatewayMachine::end(JobId id, KeptJob& job, JobPhase phase, Instant now) {
  job.phase = phase;
  job.ended = now;
  job.progress.clear();
  job.crashes_told.clear();
  if (job.begun) {
    send_to_followers(job, client::JobEnded{id, job.error, job.counts});
  } else {
    send_to_followers(
        job, client::JobLost{id, job.error.value_or(Error{ErrorCode::task_cancelled, "it was cancelled"})});
  }
  client::Answer reply;
  reply.jobs.push_back(info(id, job, now, true));
  for (const auto& [client, number] : std::exchange(job.waiting, {})) {
    reply.number = number;
    answer(client, reply);
  }
  answer_cancelling(id, job);
  if (job.detached) job.kept_until = now + results_limits_.kept_for;
  if (job.begun && may_be_asked(job)) {
    gather_results(id, job);
  } else if (!job.begun && job.kept_until) {
    job.at_rest = true;  // There are no results, but others ask how it ended, and it can be retried.
    stop_workers(id, job);
  } else {
    close(id, job);
  }
  ended_.push_back(id);
  forget_old();
}

void GatewayMachine::close(JobId id, KeptJob& job) {
  if (std::exchange(job.closed, true)) return;
  if (job.begun || job.recorded) effects_.emplace_back(CloseJob{id});
  if (!job.at_rest) stop_workers(id, job);
  forget_results(job);
  job.graph.reset();
}

void GatewayMachine::forget_old() {
  // One that still has a client is not forgotten; it comes to the end of the line.
  for (std::size_t tries = ended_.size(); ended_.size() > ended_jobs_max && tries > 0; --tries) {
    const JobId oldest = ended_.front();
    ended_.pop_front();
    KeptJob& job = jobs_.at(oldest);
    job.kept_until.reset();  // Newer ones need the room.
    close_if_unwanted(oldest, job);
    if (job.closed) {
      jobs_.erase(oldest);
    } else {
      ended_.push_back(oldest);
    }
  }
}

// ---- What is known

std::optional<Life> GatewayMachine::client_of(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? std::nullopt : found->second.client;
}

/// Of processes that are up, by task.
std::vector<TaskProgress> GatewayMachine::progress_of(const KeptJob& job) {
  std::vector<TaskProgress> progress;
  for (const Worker& worker : job.workers) {
    if (job.closed || worker.phase != Worker::Phase::up) continue;
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
  JobInfo info{id, job.name,  job.phase,    job.counts, (job.over() ? job.ended : now) - job.accepted,
               {}, job.error, std::nullopt, {},         job.total};
  if (job.leads && !job.closed) info.copies = job.recorded ? job.copies : std::vector{self_.process};
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
                            worker.phase == Worker::Phase::up && !job.closed, worker.end});
  }
  return info;
}

}  // namespace dag
