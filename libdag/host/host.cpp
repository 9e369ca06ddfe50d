#include "libdag/host/host.hpp"

#include <algorithm>

namespace dag {
namespace {

constexpr std::uint32_t of_clients = 0xFFFF;

std::string named(JobId job, std::uint32_t number) {
  return "worker process " + std::to_string(number) + " of " + to_string(job);
}

}  // namespace

// ---- Names

ProcessId worker_process(ProcessId node, std::uint16_t count) {
  return {std::uint32_t{count} << 16 | (node.value & 0xFFFF)};
}
bool is_client(ProcessId process) { return (process.value & 0xFFFF) == of_clients; }
bool is_node(ProcessId process) { return process.value < of_clients; }
ProcessId client_process(std::uint16_t number) { return {std::uint32_t{number} << 16 | of_clients}; }

// ---- Messages

void HostMachine::on_message(Life from, const KeeperMessage& any, Instant now) {
  if (const auto* order = std::get_if<keeper::StartWorker>(&any)) {
    JobHere& job = jobs_[order->job];
    if (order->term < job.term) return;
    led_by(from, order->term, order->job, job);
    if (order->number <= job.newest) return;
    job.newest = order->number;
    if (auto why = why_none_now()) {
      effects_.emplace_back(
          SendToKeeper{from, keeper::WorkerRefused{order->job, order->number, *std::move(why)}});
      return;
    }
    const Life life = next_life();
    Worker& worker = workers_[life];
    worker.job = order->job;
    worker.number = order->number;
    worker.cell = from;
    worker.launch = order->launch;
    if (programs_.contains(order->launch.program)) return start(life, worker, now);
    effects_.emplace_back(SendToKeeper{from, keeper::WantProgram{order->launch.program}});
  } else if (const auto* stop_order = std::get_if<keeper::StopWorkers>(&any)) {
    draining_ ? retire(stop_order->job) : stop_job(stop_order->job);
  } else if (const auto* one = std::get_if<keeper::StopWorker>(&any)) {
    const auto worker = std::find_if(workers_.begin(), workers_.end(), [&](const auto& here) {
      return here.second.job == one->job && here.second.number == one->number;
    });
    if (worker != workers_.end()) stop(worker->first, worker->second);
  } else if (const auto* another = std::get_if<keeper::AnotherLeads>(&any)) {
    const auto here = jobs_.find(another->job);
    if (here != jobs_.end() && here->second.cell == from) here->second.orphan_until = now + orphaned_for;
  } else if (const auto* keep = std::get_if<keeper::KeepProgram>(&any)) {
    if (has(keep->program)) {
      effects_.emplace_back(SendToKeeper{from, keeper::HaveProgram{keep->program}});
    } else if (kept_for_[keep->program].insert(from).second) {
      effects_.emplace_back(SendToKeeper{from, keeper::WantProgram{keep->program}});
    }
  } else if (const auto* want = std::get_if<keeper::WantProgram>(&any)) {
    effects_.emplace_back(SendProgram{from, want->program});
  }
}

/// The count of a process has 16 bits. When it wraps the incarnation goes up: peers that remember the
/// number's former process take the new one for a later life of it. Starts of a node are further apart than
/// that (nodes/disk/incarnation.hpp).
Life HostMachine::next_life() {
  const auto count = static_cast<std::uint16_t>(given_ % counts_max + 1);
  const auto round = static_cast<std::uint32_t>(given_ / counts_max);
  ++given_;
  return {worker_process(self_.process, count), {self_.incarnation.value + round}};
}

Error HostMachine::used_up() const {
  return {ErrorCode::internal,
          to_string(self_.process) + " has started " + std::to_string(processes_max) +
              " worker processes and has used all their numbers",
          "restart this node"};
}

std::optional<Error> HostMachine::why_none_now() const {
  if (draining_) return is_draining();
  if (given_ == processes_max) return used_up();
  if (workers_.size() >= room_.jobs) return no_room_for_job(to_string(self_.process), room_);
  return std::nullopt;
}

void HostMachine::led_by(Life keeper, std::uint32_t term, JobId id, JobHere& job) {
  job.orphan_until.reset();
  if (job.cell == keeper && job.term == term) return;
  job.cell = keeper;
  job.term = term;
  for (const KeeperMessage& end : job.ends) effects_.emplace_back(SendToKeeper{keeper, end});
  for (auto& [life, worker] : workers_) {
    if (worker.job != id) continue;
    worker.cell = keeper;
    if (worker.phase == Phase::waiting)
      effects_.emplace_back(SendToKeeper{keeper, keeper::WantProgram{worker.launch.program}});
    if (worker.phase != Phase::up) continue;
    effects_.emplace_back(
        SendToKeeper{keeper, keeper::WorkerUp{id, worker.number, life, worker.endpoint, worker.pid}});
  }
}

void HostMachine::tell_end(const Worker& worker, KeeperMessage end) {
  const auto job = jobs_.find(worker.job);
  if (job != jobs_.end() && job->second.term > 0) job->second.ends.push_back(end);
  effects_.emplace_back(SendToKeeper{worker.cell, std::move(end)});
}

void HostMachine::on_nodes(const std::vector<Claim>& nodes) {
  nodes_.clear();
  for (const Claim& node : nodes) nodes_.push_back(node.life);
  room_ = room_of(limits_, nodes_.size());
}

void HostMachine::on_program_missing(Life at, ProgramId program, Instant now) {
  if (has(program)) return;
  std::set<Life>& missing_at = missing_at_[program];
  missing_at.insert(at);
  for (const Life node : nodes_) {
    if (node == self_ || missing_at.contains(node)) continue;
    effects_.emplace_back(SendToKeeper{node, keeper::WantProgram{program}});
    return;
  }
  on_program(program,
             Error{ErrorCode::program_invalid, "no node has the job's binary", "submit the job again"}, now);
}

void HostMachine::on_program(ProgramId program, const std::optional<Error>& refused, Instant now) {
  missing_at_.erase(program);
  if (!refused) programs_.insert(program);
  if (const auto waiting = kept_for_.extract(program); waiting && !refused) {
    for (const Life keeper : waiting.mapped())
      effects_.emplace_back(SendToKeeper{keeper, keeper::HaveProgram{program}});
  }
  for (auto one = workers_.begin(); one != workers_.end();) {
    const auto here = one++;
    Worker& worker = here->second;
    if (worker.phase != Phase::waiting || worker.launch.program != program) continue;
    if (!refused) {
      start(here->first, worker, now);
    } else {
      refuse(here->first, worker, *refused);
      workers_.erase(here);
    }
  }
}

std::set<ProgramId> HostMachine::needed_programs() const {
  std::set<ProgramId> needed;
  for (const auto& [life, worker] : workers_) needed.insert(worker.launch.program);
  return needed;
}

void HostMachine::start(Life life, Worker& worker, Instant now) {
  worker.phase = Phase::starting;
  worker.start_until = now + start_within;
  effects_.emplace_back(StartProcess{life, worker.job, worker.cell, worker.launch});
}

void HostMachine::refuse(Life, Worker& worker, Error why) {
  if (std::exchange(worker.told_refused, true)) return;
  if (why.code == ErrorCode::limit_reached) {  // The job's leader asks again.
    effects_.emplace_back(
        SendToKeeper{worker.cell, keeper::WorkerRefused{worker.job, worker.number, std::move(why)}});
    return;
  }
  tell_end(worker, keeper::WorkerRefused{worker.job, worker.number, std::move(why)});
}

void HostMachine::stop(Life life, Worker& worker) {
  if (worker.phase == Phase::waiting) {
    workers_.erase(life);
  } else if (std::exchange(worker.phase, Phase::stopping) != Phase::stopping) {
    effects_.emplace_back(StopProcess{life});
  }
}

// ---- Processes

void HostMachine::on_started(Life life, std::uint32_t pid) {
  if (const auto worker = workers_.find(life); worker != workers_.end()) worker->second.pid = pid;
}

void HostMachine::on_not_started(Life life, const Error& why) {
  const auto worker = workers_.find(life);
  if (worker == workers_.end()) return;
  refuse(life, worker->second, why);
  workers_.erase(worker);
}

void HostMachine::on_greeted(Life life, const Endpoint& endpoint, const std::string& build) {
  const auto found = workers_.find(life);
  if (found == workers_.end() || found->second.phase != Phase::starting) return;
  Worker& worker = found->second;
  if (build != worker.launch.build) {
    refuse(life, worker,
           {ErrorCode::binary_mismatch,
            named(worker.job, worker.number) + " runs build " + build + ", its client build " +
                worker.launch.build,
            "the hosts have different versions of libdag.so: install the same one on all"});
    return stop(life, worker);
  }
  worker.phase = Phase::up;
  worker.told_up = true;
  worker.endpoint = endpoint;
  effects_.emplace_back(
      SendToKeeper{worker.cell, keeper::WorkerUp{worker.job, worker.number, life, endpoint, worker.pid}});
}

void HostMachine::on_ended(Life life, ProcessEnd end, const std::string& text,
                           std::vector<RunningAttempt> running, std::optional<std::uint32_t> guilty_lane) {
  const auto found = workers_.find(life);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  if (worker.told_up) {
    keeper::WorkerDown down{worker.job, worker.number,
                            life,       worker.phase == Phase::stopping ? ProcessEnd::stopped_by_us : end,
                            text,       std::move(running),
                            guilty_lane};
    tell_end(worker, std::move(down));
  } else if (worker.phase != Phase::stopping) {
    refuse(life, worker,
           {ErrorCode::program_invalid,
            named(worker.job, worker.number) + " ended before it made its dag::Session: " + text,
            "a worker process has the arguments and the directory of the client; its output is in the log "
            "directory of " +
                to_string(self_.process)});
  }
  effects_.emplace_back(ForgetLife{life});
  workers_.erase(found);
}

void HostMachine::on_keeper_down(Life keeper, Instant now) {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const auto here = job++;
    if (here->second.cell != keeper) continue;
    if (here->second.term > 0) {
      here->second.orphan_until = now + orphaned_for;
    } else {
      stop_job(here->first);
    }
  }
}

void HostMachine::stop_job(JobId job) {
  jobs_.erase(job);
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    const auto here = worker++;
    if (here->second.job == job) stop(here->first, here->second);
  }
}

Error HostMachine::is_draining() const {
  return {ErrorCode::job_elsewhere, to_string(self_.process) + " is draining", {}};
}

/// The job may go on elsewhere: its leader, or a later one, must hear how each of its processes here
/// ended.
void HostMachine::retire(JobId job) {
  bool any = false;
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    const auto here = worker++;
    if (here->second.job != job) continue;
    any = true;
    if (here->second.phase <= Phase::starting) refuse(here->first, here->second, is_draining());
    stop(here->first, here->second);
  }
  if (!any) jobs_.erase(job);
}

void HostMachine::on_time(Instant now) {
  for (auto& [life, worker] : workers_) {
    if (worker.phase != Phase::starting || worker.start_until > now) continue;
    refuse(life, worker,
           {ErrorCode::program_invalid,
            named(worker.job, worker.number) + " did not make its dag::Session within " +
                std::to_string(std::chrono::duration_cast<std::chrono::seconds>(start_within).count()) + " s",
            "every worker process runs main up to its dag::Session: keep that part short"});
    stop(life, worker);
  }
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const auto here = job++;
    if (here->second.orphan_until && *here->second.orphan_until <= now) stop_job(here->first);
  }
}

std::optional<Instant> HostMachine::wake_at() const {
  std::optional<Instant> wake;
  for (const auto& [id, job] : jobs_) {
    if (job.orphan_until && (!wake || *job.orphan_until < *wake)) wake = job.orphan_until;
  }
  for (const auto& [life, worker] : workers_) {
    if (worker.phase == Phase::starting && (!wake || worker.start_until < *wake)) wake = worker.start_until;
  }
  return wake;
}

void HostMachine::stop_all() {
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    const auto here = worker++;
    stop(here->first, here->second);
  }
}

}  // namespace dag
