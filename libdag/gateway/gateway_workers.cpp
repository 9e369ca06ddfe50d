// A gateway's requests to hosts, for the jobs whose record it leads.

#include <algorithm>

#include "libdag/gateway/gateway.hpp"
#include "libdag/graph/partition.hpp"

namespace dag {
namespace {

keeper::WorkerDown gone_with_node(JobId job, std::uint32_t number, Life life) {
  return {job, number, life, ProcessEnd::went_with_node, "its node is gone", {}, std::nullopt};
}

/// Spawned tasks are counted in the process that runs their parent.
bool is_small(const detail::Fragment& graph) { return graph.size() == 1; }

/// Where a process is, for nodes that have not asked for it.
keeper::WorkerUp whereabouts(JobId job, const auto& worker) {
  return {job, keeper::for_your_knowledge, worker.life, worker.endpoint, worker.pid};
}

}  // namespace

void GatewayMachine::on_nodes(std::vector<Claim> nodes, Instant now, Hearings heard) {
  heard_ = std::move(heard);
  std::map<Life, Claim> before = std::exchange(nodes_, {});
  for (Claim& claim : nodes) {
    const Life life = claim.life;
    nodes_.emplace(life, std::move(claim));
  }
  if (!began_ && nodes_.contains(self_)) began_ = now;
  answer_early(now);
  for (const auto& [life, claim] : before) {
    if (nodes_.contains(life)) continue;
    Incarnation& gone = gone_[life.process];
    gone = std::max(gone, life.incarnation);
    for (auto& [program, at] : program_at_) at.erase(life);
  }
  look_at_spreading(now);
  for (const auto& [life, claim] : nodes_) {
    const auto seen = handles_seen_.find(life.process);
    if (seen == handles_seen_.end() || before.contains(life)) continue;
    effects_.emplace_back(SendToKeeper{life, keeper::JobsGiven{seen->second}});
  }
  for (const JobId id : jobs_.awake()) {
    KeptJob& job = jobs_.at(id);
    if (job.is_closed() || !job.leads()) continue;
    for (const auto& [life, claim] : nodes_) {
      const auto was = before.find(life);
      const bool is_new = was == before.end();
      if (is_new) tell_of_workers(id, job, life);
      if (job.is_at_rest() || !runs_jobs(life) || !(is_new || was->second.load.draining)) continue;
      if (is_new || comes_back(job, life)) start_worker(id, job, life);
    }
    const std::size_t workers = job.workers.size();  // More are added on the way.
    for (std::size_t i = 0; i < workers; ++i) {
      Worker& worker = job.workers[i];
      if (nodes_.contains(worker.node) || worker.phase > Worker::Phase::up) continue;
      if (worker.phase == Worker::Phase::starting) {
        worker.phase = Worker::Phase::refused;
        worker.end = "its node is gone";
      } else {
        worker_down(id, job, worker, gone_with_node(id, worker.number, worker.life), false, now);
      }
    }
    bury_earlier(id, job);
    begin_if_ready(id, job, now);
    retire_workers(id, job);
  }
}

bool GatewayMachine::runs_jobs(Life node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && !found->second.load.draining && !found->second.load.witness;
}

bool GatewayMachine::can_take_jobs(Life node) const {
  if (!runs_jobs(node)) return false;
  const LoadSummary& load = nodes_.at(node).load;
  return !load.disk_full && !load.disk_stuck;
}

bool GatewayMachine::takes_jobs(Life node) const { return can_take_jobs(node) && !nodes_.at(node).load.sick; }

/// True: a node that was draining needs another process. A process that was told to end before it started may
/// never be reported; all others will be.
bool GatewayMachine::comes_back(KeptJob& job, Life node) const {
  bool has_one = false;
  for (Worker& worker : job.workers) {
    if (worker.node != node) continue;
    if (worker.retired && worker.phase == Worker::Phase::starting) worker.phase = Worker::Phase::refused;
    has_one = has_one || worker.phase <= Worker::Phase::up;
  }
  return !has_one;
}

/// Not before another node can go on: a job without any process is stopped.
void GatewayMachine::retire_workers(JobId id, KeptJob& job) {
  const bool others = std::any_of(job.workers.begin(), job.workers.end(), [&](const Worker& worker) {
    return worker.phase == Worker::Phase::up && runs_jobs(worker.node);
  });
  if (!others || job.is_closed() || job.is_at_rest()) return;
  for (Worker& worker : job.workers) {
    const bool goes =
        worker.phase <= Worker::Phase::up && nodes_.contains(worker.node) && !runs_jobs(worker.node);
    if (!goes || std::exchange(worker.retired, true)) continue;
    effects_.emplace_back(SendToKeeper{worker.node, keeper::StopWorkers{id}});
  }
}

/// A job of one task has no work for two processes until the task spawns others. Further processes are
/// requested when the job has not ended after `others_after`.
void GatewayMachine::start_workers(JobId id, KeptJob& job, Instant now) {
  const bool one_first = is_small(*job.graph) && !job.begun() && job.earlier.empty();
  std::optional<Life> first;
  if (runs_jobs(self_)) first = self_;
  for (const auto& [life, claim] : nodes_) {
    if (!runs_jobs(life)) continue;
    if (!first) first = life;
    if (one_first && life != *first) {
      job.again_at[life] = now + others_after;
    } else {
      others_wait_for_room(id, life) ? wait_for_room(job, life, now) : start_worker(id, job, life);
    }
  }
}

void GatewayMachine::start_worker(JobId id, KeptJob& job, Life node) {
  const std::uint32_t number = ++job.numbers[node.process];
  Worker worker;
  worker.node = node;
  worker.number = number;
  job.workers.push_back(std::move(worker));
  job.again_at.erase(node);
  effects_.emplace_back(SendToKeeper{node, keeper::StartWorker{id, number, job.term, job.launch}});
}

KeptJob::Worker* GatewayMachine::find(KeptJob& job, Life node, std::uint32_t number) {
  for (Worker& worker : job.workers) {
    if (worker.node == node && worker.number == number) return &worker;
  }
  // An earlier leader had more of them started there.
  for (Worker& worker : job.workers) {
    if (!job.recorded || worker.node != node || worker.phase != Worker::Phase::starting) continue;
    if (worker.number > number) continue;
    worker.number = number;
    job.numbers[node.process] = std::max(job.numbers[node.process], number);
    return &worker;
  }
  return nullptr;
}

/// A kernel whose lane was given up is not heard.
static bool any_speaks(const ProcessExplained& process) {
  return std::any_of(process.running.begin(), process.running.end(),
                     [](const RunningNow& running) { return !running.given_up; });
}

void GatewayMachine::on_keeper_message(Life from, const KeeperMessage& any, Instant now) {
  if (const auto* given = std::get_if<keeper::JobsGiven>(&any)) {
    jobs_given_ = std::max(jobs_given_, given->count);
  } else if (const auto* have = std::get_if<keeper::HaveProgram>(&any)) {
    if (!nodes_.contains(from)) return;
    program_at_[have->program].insert_or_assign(from, now);
    look_at_spreading(now);
  } else if (const auto* unheard = std::get_if<keeper::Unheard>(&any)) {
    on_unheard(from, *unheard, now);
  } else if (const auto* explained = std::get_if<keeper::Explained>(&any)) {
    explaining_.on_explained(from, *explained);
    answer_explained(now);
    if (explained->question != 0 || any_speaks(explained->process)) return;
    if (KeptJob* const job = jobs_.find(explained->job)) on_silent(explained->job, *job, from);
  } else if (const auto* up = std::get_if<keeper::WorkerUp>(&any)) {
    if (up->number == keeper::for_your_knowledge) {
      effects_.emplace_back(LifeAt{up->life, up->endpoint});
    } else {
      on_worker_up(from, *up, now);
    }
  } else if (const auto* down = std::get_if<keeper::WorkerDown>(&any)) {
    if (down->number == keeper::for_your_knowledge) {
      effects_.emplace_back(ForgetLife{down->life});
      return;
    }
    KeptJob* const job = jobs_.find(down->job);
    Worker* worker = job == nullptr ? nullptr : find(*job, from, down->number);
    const bool told_of = worker != nullptr && (worker->phase == Worker::Phase::up ||
                                               (worker->phase == Worker::Phase::starting && job->recorded));
    if (!told_of) return;
    worker->life = down->life;
    worker_down(down->job, *job, *worker, *down, true, now);
  } else if (const auto* refused = std::get_if<keeper::WorkerRefused>(&any)) {
    KeptJob* const job = jobs_.find(refused->job);
    Worker* worker = job == nullptr ? nullptr : find(*job, from, refused->number);
    if (worker == nullptr || worker->phase != Worker::Phase::starting) return;
    if (refused->why.code == ErrorCode::limit_reached) {
      KeptJob& waits = *job;
      waits.workers.erase(waits.workers.begin() + (worker - waits.workers.data()));
      if (!waits.begun() && !waits.over()) waits.error = refused->why;
      wait_for_room(waits, from, now);
      return begin_if_ready(refused->job, waits, now);
    }
    worker->phase = Worker::Phase::refused;
    worker->end = refused->why.what;
    const bool draining = refused->why.code == ErrorCode::job_elsewhere;  // Nothing is wrong with the job.
    if (!job->error && !job->over() && !draining) job->error = refused->why;
    begin_if_ready(refused->job, *job, now);
  }
}

void GatewayMachine::on_worker_up(Life from, const keeper::WorkerUp& up, Instant now) {
  KeptJob* const found = jobs_.find(up.job);
  Worker* worker = found == nullptr ? nullptr : find(*found, from, up.number);
  if (found != nullptr && !found->leads()) {
    found->had_started_at.insert(from);
    return hand_over(up.job, *found);
  }
  if (worker == nullptr || found->is_closed() || found->is_at_rest()) {
    // The process was requested by a leader that has ended it since.
    effects_.emplace_back(SendToKeeper{from, keeper::StopWorkers{up.job}});
    return;
  }
  if (worker->phase != Worker::Phase::starting) return;
  KeptJob& job = *found;
  worker->phase = Worker::Phase::up;
  worker->life = up.life;
  worker->endpoint = up.endpoint;
  worker->pid = up.pid;
  effects_.emplace_back(LifeAt{up.life, up.endpoint});
  tell_other_nodes(job, *worker, whereabouts(up.job, *worker));
  if (!job.begun()) {
    begin_if_ready(up.job, job, now);
  } else {
    introduce(up.job, job, *worker);
    effects_.emplace_back(JobLivesUp{up.job, {up.life}});
  }
  retire_workers(up.job, job);
}

void GatewayMachine::on_unheard(Life from, const keeper::Unheard& news, Instant now) {
  KeptJob* const found = jobs_.find(news.job);
  if (from != self_ && (found == nullptr || !found->leads())) return;
  std::map<Life, Instant>& known = from == self_ ? unheard_ : found->unheard[from];
  const std::map<Life, Instant> before = std::exchange(known, {});
  for (const Life life : news.lives) {
    const auto at = before.find(life);
    known[life] = at == before.end() ? now : at->second;
  }
}

/// Pairs of this node and the job's processes that are up, where one does not hear the other, and since when.
std::vector<std::pair<Apart, Instant>> GatewayMachine::silences(const KeptJob& job) const {
  std::vector<std::pair<Apart, Instant>> found;
  if (!job.leads() || job.is_closed() || !job.begun()) return found;
  const auto is_up = [&](Life life) {
    return std::any_of(job.workers.begin(), job.workers.end(), [&](const Worker& worker) {
      return worker.phase == Worker::Phase::up && worker.life == life;
    });
  };
  const auto add = [&](Life who, const std::map<Life, Instant>& silent) {
    for (const auto& [life, since] : silent) {
      if (is_up(life)) found.push_back({{who, life}, since});
    }
  };
  add(self_, unheard_);
  for (const auto& [who, silent] : job.unheard) {
    if (is_up(who)) add(who, silent);
  }
  return found;
}

/// When the next of its processes are apart, should they not hear each other until then.
std::optional<Instant> GatewayMachine::apart_at(const KeptJob& job) const {
  std::optional<Instant> at;
  for (const auto& [pair, since] : silences(job)) {
    if (!at || since + apart_after < *at) at = since + apart_after;
  }
  return at;
}

void GatewayMachine::look_who_is_apart(JobId id, KeptJob& job, Instant now) {
  if (const auto at = apart_at(job); !at || *at > now) return;
  // Processes that will be apart in a moment count, too: many see one cut, not at once.
  std::vector<Apart> apart;
  for (const auto& [pair, since] : silences(job)) apart.push_back(pair);
  for (const Life life : who_goes(std::move(apart), self_)) {
    Worker& worker = *std::find_if(job.workers.begin(), job.workers.end(),
                                   [&](const Worker& one) { return one.life == life; });
    worker.end = "this process and others of the job did not hear each other, though their nodes are up";
    effects_.emplace_back(SendToKeeper{worker.node, keeper::StopWorker{id, worker.number}});
    job.again_at[worker.node] = now + apart_pause;
    worker_down(id, job, worker,
                {id, worker.number, life, ProcessEnd::stopped_by_us, worker.end, {}, std::nullopt}, false,
                now);
  }
}

/// Nodes that have led the job are members of it, and new homes wait for reports from their runners: they
/// must know the places of processes that have come since. Marked, because the word of a host about its own
/// process differs: a node that does not know the job ends that process.
void GatewayMachine::tell_other_nodes(const KeptJob& job, const Worker& about, const KeeperMessage& news) {
  if (!job.recorded) return;
  for (const auto& [node, claim] : nodes_) {
    if (node != self_ && node != about.node) effects_.emplace_back(SendToKeeper{node, news});
  }
}

/// A node that comes late. It may have been there before, and what the job's processes wait for from it is on
/// its way when it knows where they are.
void GatewayMachine::tell_of_workers(JobId id, const KeptJob& job, Life node) {
  if (!job.recorded || node == self_) return;
  for (const Worker& worker : job.workers) {
    if (worker.phase != Worker::Phase::up || worker.node == node) continue;
    effects_.emplace_back(SendToKeeper{node, whereabouts(id, worker)});
  }
}

void GatewayMachine::begin_if_ready(JobId id, KeptJob& job, Instant now) {
  if (job.is_closed() || job.is_at_rest()) return;
  if (job.begun()) return stop_if_deserted(id, job, now);
  BeginJob begin;
  begin.submitted = job.accepted;
  for (const Worker& worker : job.workers) {
    if (worker.phase == Worker::Phase::starting) return;
    if (worker.phase == Worker::Phase::up) begin.lives.push_back(worker.life);
  }
  if (begin.lives.empty()) return stop_if_deserted(id, job, now);
  job.begin();
  job.error.reset();
  for (const Worker& worker : job.workers) {
    if (worker.phase == Worker::Phase::up) introduce(id, job, worker);
  }
  if (job.recorded) {
    effects_.emplace_back(JobLivesUp{id, std::move(begin.lives)});
  } else {
    begin.plan = plan_of(id, job, begin.lives.size());
    begin.retry = retry_of(job);
    effects_.emplace_back(std::move(begin));
  }
  for (const std::uint32_t task : std::exchange(job.wanted, {})) ask_for(id, job, task, job.client);
}

std::shared_ptr<const JobPlan> GatewayMachine::plan_of(JobId id, const KeptJob& job,
                                                       std::size_t shards) const {
  auto plan = std::make_shared<JobPlan>();
  plan->job = id;
  plan->name = job.name;
  plan->shards = is_small(*job.graph) ? 1 : static_cast<std::uint32_t>(shards);
  plan->shard_of = partition(*job.graph, plan->shards);
  plan->graph = job.graph;
  plan->representation = job.representation;
  plan->seed = id.value;
  return plan;
}

void GatewayMachine::introduce(JobId id, const KeptJob& job, const Worker& to) {
  keeper::Begin begin{id, self_, job.term, {}};
  for (const Worker& other : job.workers) {
    if (other.phase == Worker::Phase::up && other.life != to.life) begin.others.push_back(other.endpoint);
  }
  effects_.emplace_back(SendToKeeper{to.life, std::move(begin)});
}

void GatewayMachine::worker_down(JobId id, KeptJob& job, Worker& worker, keeper::WorkerDown down,
                                 bool replace, Instant now) {
  worker.phase = Worker::Phase::down;
  if (down.end != ProcessEnd::stopped_by_us) worker.end = down.text;
  if (job.is_at_rest() && down.end == ProcessEnd::stopped_by_us) down.text = "its job has ended";
  replace = replace && worker.replaced;
  const Life node = worker.node, life = worker.life;
  std::erase(job.earlier, life);
  on_silent(id, job, life);
  // A crash with a running task is limited by the task's tries or its suspicion, so it does not count here.
  // An operator who kills processes of many nodes, or a kernel with many tries, does not end the whole job.
  const bool charged = counts_for_no_task(down.end, down.running);
  const std::string text = to_string(life.process) + ": " + down.text;
  tell_other_nodes(job, worker,
                   keeper::WorkerDown{id, keeper::for_your_knowledge, life, down.end, {}, {}, std::nullopt});
  // Also for an ended job whose outputs may be asked for: lost outputs are made again.
  if (!job.is_closed() && job.begun()) effects_.emplace_back(JobLifeDown{id, std::move(down)});
  effects_.emplace_back(ForgetLife{life});
  if (job.is_closed() || job.is_at_rest()) return;
  if (charged && !job.budget.spend(now)) {
    return give_up(id, job,
                   {ErrorCode::process_crashed,
                    "more than " + std::to_string(crashes.restarts) + " processes of " + to_string(id) +
                        " crashed within a minute while no task ran in them; the last one: " + text,
                    "see the logs of the job's worker processes, in the log directory of each node"},
                   now);
  }
  job.unheard.erase(life);
  if (replace && runs_jobs(node)) start_worker(id, job, node);  // `worker` is not valid any more.
  begin_if_ready(id, job, now);
}

void GatewayMachine::stop_if_deserted(JobId id, KeptJob& job, Instant now) {
  if (job.has_process() || !job.again_at.empty()) return;
  give_up(id, job,
          job.error.value_or(
              Error{ErrorCode::process_crashed, "no node can run a process of " + to_string(id), {}}),
          now);
}

/// For an ended job: clients that wait for an output hear that it cannot be made again.
void GatewayMachine::give_up(JobId id, KeptJob& job, Error why, Instant now) {
  if (!job.over()) job.error = why;
  if (job.begun()) {
    effects_.emplace_back(StopJob{id, std::move(why)});
  } else {
    end(id, job, JobPhase::failed, now);
  }
}

/// A node that was never seen may still join: this node may have just started. If it does not join, the
/// leader of the record does not know its processes, and buries them.
bool GatewayMachine::is_gone(Life node) const {
  const auto gone = gone_.find(node.process);
  if (gone != gone_.end() && node.incarnation <= gone->second) return true;
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& one) {
    return one.first.process == node.process && node.incarnation < one.first.incarnation;
  });
}

/// A node that leads a job again after a pause, or after a start, remembers these processes as alive, and has
/// no host to tell of their end.
void GatewayMachine::bury_earlier(JobId id, KeptJob& job) {
  std::erase_if(job.earlier, [&](Life life) {
    if (!is_gone({node_of(life.process), life.incarnation})) return false;
    effects_.emplace_back(JobLifeDown{id, gone_with_node(id, 0, life)});
    return true;
  });
}

}  // namespace dag
