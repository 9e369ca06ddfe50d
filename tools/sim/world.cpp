// The run of a seed from its beginning to its end; processes that come and go; the effects of machines.

#include <algorithm>

#include "libdag/graph/partition.hpp"
#include "tools/sim/world.hpp"

namespace dag::sim {

World::World(WorldOptions options, Program& program)
    : options_(options),
      program_(program),
      random_(options.seed * 2 + 1),
      faults_(options.seed * 3 + 7),
      riddles_(options.seed * 37 + 11),
      stragglers_(options.seed * 41 + 3),
      stragglers_left_(options.stragglers),
      rings_(options.seed),
      cuts_(options.processes),
      paused_until_(options.processes) {
  auto plan = std::make_shared<JobPlan>();
  plan->job = JobId{7};
  plan->name = "sim";
  plan->graph = std::make_shared<const detail::Fragment>(program.graph().fragment);
  plan->shards = options.shards;
  plan->shard_of = partition(*plan->graph, plan->shards);
  plan->representation = options.representation;
  plan->inline_bytes_max = options.inline_bytes_max;
  plan->seed = options.seed;
  plan->quarantine = options.quarantine;
  plan_ = plan;
  trace_.print = options.trace;
  if (!plan->graph->groups.empty()) trace_.gangs.emplace(plan->graph);
  Random drifts(options.seed * 79 + 23);
  for (std::uint32_t i = 0; i < options.processes; ++i) {
    const auto most = static_cast<std::uint64_t>(options.drift_ppm);
    drift_ppm_.push_back(
        most == 0 ? 0 : static_cast<std::int64_t>(drifts.below(2 * most + 1)) - options.drift_ppm);
  }
  std::vector<Life> lives;
  carried.resize(options.processes);
  for (std::uint32_t i = 0; i < options.processes; ++i) {
    processes_.push_back(std::make_unique<Process>());
    processes_[i]->life = {ProcessId{i}, Incarnation{0}};
    if (i >= options.replicas && options.workers_late) {
      come_up_after(millis(1, 100), i);
    } else {
      start_process(i, 1);
      lives.push_back(life_of(i));
    }
  }
  for (std::uint32_t task = 0; task < plan_->graph->size(); ++task) {
    open_in_record_.insert(open_in_record_.end(), task);
    if (!options.pace && random_.chance(0.3)) wanted_.push_back({0, task});
  }
  if (options.client_fetches) fetched_.insert(wanted_.begin(), wanted_.end());
  if (replicated()) {
    begin_replicas();
  } else {
    CellOptions cell{life_of(0), options.seed, options.cell_runs};
    cell.planted = options.planted.cell;
    cell.small_plan_bytes_max = options.small_plan_bytes_max;
    cell_ = std::make_unique<Cell>(cell, plan_, sink());
    cell_->begin(lives, {}, clock_of(0));
    cell_->follow(ClientId{1}, {}, clock_of(0));
    cell_->keep(wanted_, clock_of(0));
    drain_cell();
  }
  plan_faults();
  if (options_.cancels) plan_cancel();
}

World::~World() = default;

void World::run() {
  constexpr Duration look_every = std::chrono::milliseconds(100);
  std::uint64_t count = 0;
  Instant look_at = options_.calm_at;
  while (!over()) {
    if (events_.empty()) throw Violation("nothing is left to happen, and the job has not ended: " + stuck());
    if (events_.next_at() > options_.calm_at + options_.patience) {
      throw Violation("the job did not end in time: " + stuck());
    }
    if (++count > options_.events_max) throw Violation("too many events: " + stuck());
    for (; !options_.pace && look_at < events_.next_at(); look_at = look_at + look_every) look(look_at);
    step();
  }
  events = count;
  if (trace_.left_out > 0) seen["saves were left out"] += trace_.left_out;
  check_result();
  if (!options_.pace) settle();
}

void World::step() {
  events_.run_one();
  if (touched_ == nullptr) return;
  if (!options_.pace) check(*touched_);
  touched_ = nullptr;
}

/// Now and then.
void World::look(Instant at) {
  look_at_waiting_work(at);
  look_who_has_copies();
}

// ---- Processes

void World::start_process(std::uint32_t index, std::uint32_t incarnation) {
  Process& process = *processes_[index];
  process = Process{};
  process.life = {ProcessId{index}, Incarnation{incarnation}};
  process.up = true;
  RunnerOptions options{process.life, options_.planted.runner};
  options.lanes = options_.lanes;
  options.lease = options_.lease;
  if (options_.digests_behind) options.digest_at_once_bytes_max = 0;
  process.around = std::make_unique<Around>(*this, index);
  process.job = std::make_unique<JobHere>(options, plan_, *process.around, sink());
  last_up_ = now();
  conservation_.disturbed(now());
  if (options_.steal && options_.processes > 1 && runs(index)) {
    const Life life = process.life;
    steals_by_policy() ? events_.after(Duration{0}, [this, life] { look_as_thief(life); })
                       : look_for_work(life);
  }
  if (options_.rings) make_rings(process.life);
}

// ---- Clocks

namespace {
constexpr std::int64_t million = 1'000'000;
Instant drifted(std::int64_t ns, std::int64_t ppm) {
  return Instant{Duration(ns + ns / million * ppm + ns % million * ppm / million)};
}
}  // namespace

Instant World::clock_of(std::uint32_t process) const {
  return drifted(now().since_start.count(), drift_ppm_[process]);
}

/// Not a nanosecond before: who is woken by it finds it due.
std::optional<Instant> World::when(const Process& process, std::optional<Instant> said) const {
  const std::int64_t ppm = drift_ppm_[process.life.process.value];
  if (!said || ppm == 0) return said;
  const std::int64_t wanted = said->since_start.count(), whole = million + ppm;
  std::int64_t ns = wanted / whole * million + wanted % whole * million / whole;
  while (drifted(ns, ppm) < *said) ++ns;
  return Instant{Duration(ns)};
}

// ---- Faults

void World::plan_cancel() {
  Random random(options_.seed * 23 + 7);
  const auto span = static_cast<std::uint64_t>(options_.calm_at.since_start.count());
  const std::uint64_t at = random.chance(0.5) ? random.below(span / 2) : random.below(span / 100 + 1);
  std::vector<TaskId> tasks;
  if (random.chance(0.3)) {
    for (std::uint32_t task = 0; task < plan_->graph->size(); ++task) {
      if (random.chance(0.3)) tasks.push_back({0, task});
    }
  }
  events_.at(Instant{Duration(at)}, [this, tasks] {
    if (over()) return;
    ++seen["cancelled by somebody"];
    if (replicated()) {
      return to_leader([this, tasks](CellReplica& cell, Instant now_there) {
        const bool taken = cell.cancel(tasks, now_there);
        cancel_asked_ = cancel_asked_ || (taken && tasks.empty());
        return taken;
      });
    }
    cell_->cancel(tasks, clock_of(0));
    drain_cell();
  });
}

void World::plan_faults() {
  if (options_.processes < 2) return;
  for (std::uint32_t i = 0; i < options_.deaths; ++i) {
    const auto span = static_cast<std::uint64_t>(options_.calm_at.since_start.count());
    // Half of them early, when there is most to lose.
    const std::uint64_t at = faults_.chance(0.5) ? faults_.below(span) : faults_.below(span / 20);
    if (replicated()) {
      events_.at(Instant{Duration(at)}, [this] { die(draw_victim()); });
      continue;
    }
    const auto victim = static_cast<std::uint32_t>(1 + faults_.below(options_.processes - 1));
    events_.at(Instant{Duration(at)}, [this, victim] { die(victim); });
  }
  if (!options_.all_die) return;
  const auto at = faults_.below(static_cast<std::uint64_t>(options_.calm_at.since_start.count()) / 4);
  for (std::uint32_t victim = replicated() ? 0 : 1; victim < options_.processes; ++victim) {
    const Duration later = std::chrono::microseconds(faults_.below(3000));
    events_.at(Instant{Duration(at)} + later, [this, victim] { die(victim); });
  }
}

void World::die(std::uint32_t index) {
  Process& process = *processes_[index];
  if (!process.up || over()) return;
  const Life life = process.life;
  const bool zombie = faults_.chance(options_.zombies);
  ++seen[zombie ? "declared dead alive" : "died"];
  if (zombie) {
    heard_down(life, {}, 0, 0);
    events_.after(millis(1, 200), [this, index, life] {
      if (processes_[index]->up && processes_[index]->life == life) gone(index);
    });
    return;
  }
  gone(index);
  heard_down(life, {}, 1, 150);
}

/// Whoever watches lives learns of it.
void World::heard_down(Life life, const LifeEnd& how, std::uint64_t least_ms, std::uint64_t most_ms) {
  conservation_.disturbed(now());
  if (!replicated()) {
    const auto tell = [this, life, how] {
      cell_->on_life_down(life, clock_of(0), how);
      drain_cell();
    };
    return most_ms == 0 ? tell() : events_.after(millis(least_ms, most_ms), tell);
  }
  for (std::uint32_t at = 0; at < options_.processes; ++at) {
    if (at == life.process.value) continue;
    events_.after(millis(least_ms, std::max<std::uint64_t>(most_ms, 100)), [this, at, life, how] {
      Process& process = *processes_[at];
      if (stands_still() || !process.up || process.replica == nullptr) return;
      process.replica->on_life_down(life, clock_of(at), how);
      options_.copies_move ? tell_seats(process) : drain_replica(process);
    });
  }
}

void World::gone(std::uint32_t index) {
  Process& process = *processes_[index];
  const Life old = process.life;
  if (replicated()) crash_replica(index);
  if (trace_.gangs) trace_.gangs->forget(ProcessId{index});
  last_gone_ = now();
  process = Process{};
  process.life = old;
  if (!options_.rejoin) return;
  come_up_after(millis(160, 600), index);
}

void World::come_up_after(Duration pause, std::uint32_t index) {
  events_.after(pause, [this, index] {
    if (stands_still()) return;
    start_process(index, processes_[index]->life.incarnation.value + 1);
    ++seen["came up"];
    heard_up(life_of(index));
  });
}

// ---- Effects

void World::drain_cell() {
  if (!options_.pace) cell_->check_invariants();
  check_closed(*cell_);
  for (CellEffect& effect : cell_->take_effects()) {
    if (auto* message = std::get_if<SendMessage>(&effect)) {
      send(life_of(0), message->to, message->message);
    } else if (auto* tell = std::get_if<TellClient>(&effect)) {
      on_settled(*tell);
    } else if (auto* end = std::get_if<JobIsOver>(&effect)) {
      if (std::exchange(ended_, true) && !end->stopped) throw Violation("the job ended twice");
      stopped_ = end->stopped;
    }
  }
}

void World::take_steps(Process& process) {
  const Life life = process.life;
  while (find(life) != nullptr && process.job->step(clock_of(process))) carry_out(process);
  if (find(life) != nullptr) wake_later(process);
}

void World::drain(Process& process) {
  carry_out(process);
  take_steps(process);
}

void World::carry_out(Process& process) {
  note_given_up(process);
  touched_ = &process;
  for (JobEffect& effect : process.job->take_effects()) {
    if (!carry_out(process, effect)) return;
  }
  wake_later(process);
  run_lanes(process);
}

bool World::carry_out(Process& process, JobEffect& any) {
  const Life life = process.life;
  if (std::holds_alternative<LeaseLost>(any)) {
    ++seen["lease lost"];
    gone(life.process.value);
    heard_down(life, {ProcessEnd::stopped_by_us, "its lease was over", {}, {}}, 0, 20);
    return false;
  }
  if (const auto* ready = std::get_if<OfferRow>(&any)) {
    process.queue.push_back({ready->shard, ready->row, nullptr});
  } else if (auto* start = std::get_if<StartAttempt>(&any)) {
    check_dispatched(process, start->attempt);
    process.queue.push_back({0, no_row, std::make_shared<Attempt>(std::move(start->attempt))});
  } else if (const auto* stop = std::get_if<StopAttempt>(&any)) {
    process.stopped.insert({stop->task, stop->id});
  } else if (const auto* message = std::get_if<SendMessage>(&any)) {
    if (const auto* lend = std::get_if<message::Lend>(&message->message))
      check_dispatched(process, lend->attempt);
    send(life, message->to, message->message);
  } else if (const auto* said = std::get_if<TellCell>(&any)) {
    tell_cell(process, said->from, said->message);
  } else if (const auto* brought = std::get_if<Brought>(&any)) {
    on_brought(*brought);
  } else if (const auto* digest = std::get_if<TakeDigest>(&any)) {
    digest_later(life, digest->name, digest_of(digest->bytes));
  } else if (const auto* came = std::get_if<WorkCame>(&any)) {
    process.thief.on_work(came->from);
  }
  return true;
}

void World::wake_later(Process& process) {
  const auto at = when(process, process.job->wake_at());
  if (!at || (process.timer && *process.timer <= *at)) return;
  process.timer = at;
  events_.at(*at, [this, life = process.life, at] {
    Process* mine = find(life);
    if (mine == nullptr || mine->timer != at) return;  // An earlier one was set since.
    mine->timer.reset();
    mine->job->on_time(clock_of(*mine));
    take_steps(*mine);
  });
}

void World::digest_later(Life life, OutputName name, std::uint64_t digest) {
  ++seen["digest taken behind"];
  const Duration pause = random_.chance(0.5) ? millis(0, 1) : millis(0, 50);
  events_.after(pause, [this, life, name, digest] {
    Process* mine = find(life);
    if (mine == nullptr) return;
    mine->job->on_digest(name, digest);
    drain(*mine);
  });
}

}  // namespace dag::sim
