// How a job comes to be accepted: its handle, its binary here and where it has to be besides, and whether
// these nodes can run it.

#include <algorithm>
#include <limits>

#include "libdag/gateway/gateway.hpp"
#include "libdag/graph/check.hpp"
#include "libdag/keeper/admission.hpp"

namespace dag {

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
  return {ErrorCode::internal, to_string(self_.process) + " has used all its job numbers",
          "submit to another node, or start this node with an empty data directory"};
}

void GatewayMachine::ask(Life from, client::AskSubmit& ask, Instant now) {
  client::Answer reply;
  reply.number = ask.number;
  reply.job = ask.job;
  if (const KeptJob* const before = jobs_.peek(ask.job)) {
    if (is_another(*before, ask.key)) return refuse_handle(from, ask.number, ask.job);
    if (!before->submitter) answer(from, std::move(reply));
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

  KeptJob& job = jobs_.add(ask.job);
  asked_about_[from].insert(ask.job);
  job.name = std::move(ask.name);
  job.graph = std::move(ask.graph);
  job.total = job.graph->total;
  job.launch = std::move(ask.launch);
  job.key = ask.key;
  job.retries = ask.retries;
  job.only_unfinished = ask.only_unfinished;
  if (ask.supervise_all) job.representation = Representation::supervised;
  job.accepted = now;
  job.counts.open = job.graph->size();
  job.detached = ask.detached;
  if (!ask.detached) job.client = from;
  job.detached = job.detached || ask.kept;
  if (recorded_) {
    job.recorded = true;
    job.state = KeptJob::Following{};
    job.submitter = {from, ask.number};
    effects_.emplace_back(RecordJob{plan_of(ask.job, job, nodes_.size()),
                                    Submission{job.launch, job.detached, 0, job.key, job.retries},
                                    retry_of(job)});
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
       to_string(job) + " is another job, or a handle that " + to_string(self_.process) + " has not issued",
       "submit with a new handle"});
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
  for (const auto& [id, job] : jobs_.all()) {
    const bool record_gone = job.over() && job.ended()->record_gone;
    if (!job.is_closed() && !record_gone) needed.insert(job.launch.program);
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
                  " could not be copied to another node, so the job would not survive a loss of this node",
              "`dag node list` shows which nodes are up; submit the job again when more are"});
    }
  }
}

}  // namespace dag
