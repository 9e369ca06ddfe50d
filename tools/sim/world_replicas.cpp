// A job whose record has replicas in several processes, any of which may die: their messages, their disks,
// their leaders, and the conditions on their common state.

#include <algorithm>
#include <iterator>

#include "libdag/wire/cell_log.hpp"
#include "tools/sim/promises.hpp"
#include "tools/sim/world.hpp"

namespace dag::sim {

void World::begin_replicas() {
  disks_.resize(options_.processes);
  const CellSnapshot genesis = genesis_of(plan_, options_.cell_runs, options_.replicas);
  cell_ = std::make_unique<Cell>(CellOptions{life_of(0), options_.seed}, genesis, nobody_);
  consensus::Configuration who;
  for (std::uint32_t index = 0; index < options_.replicas; ++index)
    who.voters.push_back({ProcessId{index}, 1});
  for (std::uint32_t index = 0; index < options_.processes; ++index) {
    if (processes_[index]->up) start_replica(index);
  }
  for (std::uint32_t index = 0; index < options_.processes; ++index) {
    if (processes_[index]->up) heard_up(life_of(index));
  }
  for (std::uint32_t index = 0; index < options_.replicas; ++index) {
    // A submitter repeats it until all have done it.
    const auto begin = [this, index, who, genesis] {
      Process& process = *processes_[index];
      if (stands_still() || !process.up) return;
      process.replica->begin(who, genesis, index == 0, clock_of(process));
      drain_replica(process);
    };
    for (const std::uint64_t most_ms : {5u, 1500u, 3000u}) events_.after(millis(0, most_ms), begin);
    // All of these may have met processes that were down, or that died before it was on their disks.
    events_.at(options_.calm_at + std::chrono::seconds(1), begin);
  }
  plan_cuts();
  plan_pauses();
  plan_full_disks();
  plan_drain();
}

void World::plan_cuts() {
  for (std::uint32_t i = 0; i < options_.replicas_cut; ++i) {
    events_.at(draw_time(faults_), [this, i] {
      const std::uint32_t victim = draw_victim();
      const Instant until = std::min(now() + millis(50, 1500), options_.calm_at);
      if (!options_.cut_anyhow) {
        ++seen["a replica was cut off"];
        return cuts_.isolate(victim, until);
      }
      Random how(options_.seed * 53 + i);
      ++seen[cuts_.draw(victim, how, until)];
    });
  }
}

void World::plan_pauses() {
  Random pauses(options_.seed * 59 + 17);
  for (std::uint32_t i = 0; i < options_.pauses; ++i) {
    const Duration takes = std::chrono::milliseconds(1 + pauses.below(1500));
    events_.at(draw_time(pauses), [this, takes] {
      ++seen["a process was stopped"];
      conservation_.disturbed(now());
      paused_until_[draw_victim()] = std::min(now() + takes, options_.calm_at);
    });
  }
}

void World::plan_full_disks() {
  Random full(options_.seed * 67 + 5);
  for (std::uint32_t i = 0; i < options_.disks_full; ++i) {
    const Duration takes = std::chrono::milliseconds(1 + full.below(500));
    events_.at(draw_time(full), [this, takes] {
      ++seen["a disk was full"];
      const std::uint32_t index = draw_victim();
      disks_[index].full_until = std::min(now() + takes, options_.calm_at);
      const auto tell = [this, index] {
        Process& process = *processes_[index];
        if (stands_still() || !process.up || process.replica == nullptr) return;
        process.replica->on_disk_full(disks_[index].full_until > now(), clock_of(process));
        drain_replica(process);
      };
      tell();
      events_.at(disks_[index].full_until, tell);
    });
  }
}

/// For good: a node that is to go.
void World::plan_drain() {
  Random drain(options_.seed * 71 + 13);
  if (!options_.copies_move || drain.chance(0.5)) return;
  events_.at(draw_time(drain), [this] {
    ++seen["a node was drained"];
    drained_ = draw_victim();
    for (const auto& process : processes_) {
      if (process->up && process->replica != nullptr) tell_seats(*process);
    }
  });
}

/// Membership's knowledge by now.
void World::tell_seats(Process& process) {
  std::vector<consensus::Candidate> alive;
  std::vector<consensus::Seat> leaving;
  for (std::uint32_t other = 0; other < options_.processes; ++other) {
    const bool there = processes_[other]->up || !options_.copies_move;
    if (!there || (!options_.cell_runs && other >= options_.replicas)) continue;
    if (drained_ == other) {
      leaving.push_back({ProcessId{other}, 1});
    } else {
      alive.push_back({{ProcessId{other}, 1}});
    }
  }
  process.replica->on_seats(std::move(alive), std::move(leaving), clock_of(process));
  drain_replica(process);
}

bool World::waits_in_pause(std::uint32_t index, std::function<void()> then) {
  if (paused_until_[index] <= now()) return false;
  events_.at(paused_until_[index], std::move(then));
  return true;
}

World::Process* World::leading() {
  for (const auto& process : processes_) {
    if (process->up && process->replica->leads()) return process.get();
  }
  return nullptr;
}

std::uint32_t World::draw_victim() {
  if (faults_.chance(options_.aim)) {
    if (const Process* process = leading()) return process->life.process.value;
  }
  return static_cast<std::uint32_t>(faults_.below(options_.processes));
}

void World::to_leader(std::function<bool(CellReplica&, Instant)> what) {
  if (stands_still()) return;
  if (Process* process = leading(); process != nullptr && what(*process->replica, clock_of(*process)))
    return drain_replica(*process);
  events_.after(millis(10, 50), [this, what = std::move(what)] { to_leader(what); });
}

// ---- Processes

void World::start_replica(std::uint32_t index) {
  Process& process = *processes_[index];
  CellReplicaOptions options = options_.replica;
  options.self = process.life;
  options.small_plan_bytes_max = options_.small_plan_bytes_max;
  options.log.self = {process.life.process, 1};
  options.log.seed = random_.next();
  process.replica = std::make_unique<CellReplica>(options, disks_[index].stored, sink(), clock_of(process));
  if (disks_[index].full_until > now()) process.replica->on_disk_full(true, clock_of(process));
  for (std::uint32_t other = 0; other < options_.processes; ++other) {
    if (other != index && processes_[other]->up)
      process.replica->on_life_up(life_of(other), clock_of(process), runs(other));
  }
  tell_seats(process);
}

/// The batch under way may be there in part, from its beginning.
void World::crash_replica(std::uint32_t index) {
  ReplicaDisk& disk = disks_[index];
  while (!disk.waiting.empty() && disk.busy && random_.chance(0.5)) {
    disk.stored.put(disk.waiting.front().change);
    disk.waiting.pop_front();
  }
  disk.waiting.clear();
  disk.busy = false;
  const Life life = processes_[index]->life;
  for (auto at = fetching_.begin(); at != fetching_.end();) {
    if (at->second.first != life) {
      ++at;
      continue;
    }
    const TellClient tell = at->second.second;
    at = fetching_.erase(at);
    --fetches_open_;
    fetch_later(tell);
  }
}

void World::heard_up(Life life) {
  if (!replicated()) {
    cell_->on_life_up(life, clock_of(0));
    return drain_cell();
  }
  if (processes_[life.process.value]->replica == nullptr) start_replica(life.process.value);
  for (std::uint32_t at = 0; at < options_.processes; ++at) {
    if (at == life.process.value) continue;
    events_.after(millis(0, 20), [this, at, life] {
      Process& process = *processes_[at];
      if (stands_still() || !process.up || process.replica == nullptr || find(life) == nullptr) return;
      process.replica->on_life_up(life, clock_of(process), runs(life.process.value));
      options_.copies_move ? tell_seats(process) : drain_replica(process);
    });
  }
}

// ---- Effects

void World::drain_replica(Process& process) {
  const Life life = process.life;
  process.replica->check_invariants();
  for (auto effects = process.replica->take_effects(); !effects.empty();
       effects = process.replica->take_effects()) {
    check_leader(process);
    check_against_reference(process);
    look_at_cancel(*process.replica);
    for (CellReplicaEffect& effect : effects) carry_out(process, effect);
    if (find(life) == nullptr) return;
  }
  write_log(life.process.value);
  const Instant due = *when(process, process.replica->due());
  if (process.replica_timer && *process.replica_timer <= due && *process.replica_timer >= now()) return;
  process.replica_timer = due;
  events_.at(due, [this, life, due] {
    Process* mine = find(life);
    if (mine == nullptr || stands_still() || mine->replica_timer != due) return;
    mine->replica_timer.reset();
    const auto look_at_clock = [this, life] {
      Process* still = find(life);
      if (still == nullptr || stands_still()) return;
      still->replica->on_time(clock_of(*still));
      drain_replica(*still);
    };
    if (!waits_in_pause(life.process.value, look_at_clock)) look_at_clock();
  });
}

void World::carry_out(Process& process, CellReplicaEffect& any) {
  const std::uint32_t index = process.life.process.value;
  if (auto* message = std::get_if<SendMessage>(&any)) {
    send(process.life, message->to, message->message);
  } else if (auto* tell = std::get_if<TellClient>(&any)) {
    told_in_ = std::max(told_in_, process.replica->log().term());
    on_settled(*tell);
  } else if (auto* end = std::get_if<JobIsOver>(&any)) {
    ended_ = true;
    if (end->stopped) stopped_ = end->stopped;
    if (cancel_acknowledged_ && !end->cancelled)
      throw Violation(
          "the job ended as if nobody had cancelled it, and a client was told that it is cancelled");
  } else if (auto* one = std::get_if<SendToReplica>(&any)) {
    check_promise(disks_[index].stored, one->message, one->to);
    send_to_replica(index, one->to.value, one->message);
  } else if (auto* change = std::get_if<WriteToLog>(&any)) {
    disks_[index].waiting.push_back(std::move(*change));
  } else if (const auto* none = std::get_if<NoSnapshot>(&any)) {
    throw Violation("a snapshot cannot be read back: " + none->why.what);
  } else if (std::get<LeadsNow>(any).leads) {
    leads_now(process);
  } else {
    ++seen["a cell's leader lets go"];
  }
}

void World::send_to_replica(std::uint32_t from, std::uint32_t to, const consensus::Message& message) {
  const bool calm = now() >= options_.calm_at;
  if (!calm && random_.chance(options_.replicas_lost)) return;
  Duration pause = std::chrono::microseconds(30 + random_.below(2000));
  if (!calm && random_.chance(options_.late)) pause += millis(1, 300);
  events_.after(pause, [this, from, to, message] {
    if (!cuts_.hears(to, from, now())) return;
    const auto arrive = [this, to, message] {
      Process& process = *processes_[to];
      if (stands_still() || !process.up || process.replica == nullptr) return;
      process.replica->on_replica_message(message, clock_of(process));
      drain_replica(process);
    };
    if (!waits_in_pause(to, arrive)) arrive();
  });
}

/// Writes one batch at a time.
void World::write_log(std::uint32_t index) {
  ReplicaDisk& disk = disks_[index];
  if (disk.busy || disk.waiting.empty() || disk.full_until > now()) return;
  disk.busy = true;
  const Duration takes = std::chrono::microseconds(random_.below(random_.chance(0.1) ? 30'000 : 3000));
  events_.after(takes, [this, index, life = life_of(index), last = disk.waiting.back().number] {
    Process* process = find(life);
    if (process == nullptr) return;
    ReplicaDisk& mine = disks_[index];
    mine.busy = false;
    for (; !mine.waiting.empty() && mine.waiting.front().number <= last; mine.waiting.pop_front())
      mine.stored.put(mine.waiting.front().change);
    process->replica->on_written(last, clock_of(*process));
    drain_replica(*process);
  });
}

// ---- Conditions that must hold

/// I3, I14: settled entries are the same everywhere, and so is the cell made of them, whether entry by entry,
/// from a snapshot, or from a disk.
void World::check_against_reference(Process& process) {
  const CellReplica& replica = *process.replica;
  if (replica.cell() == nullptr) return;
  for (; reference_at_ < replica.applied(); ++reference_at_) {
    const consensus::Entry& entry = replica.log().entry(reference_at_ + 1);
    if (entry.type == consensus::EntryType::command) {
      const std::vector<Life> before = cell_->state().lives;
      cell_->apply(wire::decode_command(entry.command.bytes()).value_or_throw(), entry.term, now());
      cell_->take_effects();
      check_closed(*cell_);
      const std::vector<Life>& after = cell_->state().lives;
      std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                          std::inserter(buried_, buried_.end()));
      for (const Life life : after) {
        if (buried_.contains(life)) throw Violation(to_string(life) + " takes part again, and was dead");
      }
    }
    if (entry.type == consensus::EntryType::configuration) check_configuration(entry.configuration);
    states_[reference_at_ + 1] = digest_of(wire::encode(cell_->snapshot()));
  }
  check_log_length(replica);
  const consensus::Index at = replica.applied();
  if (at == 0 || std::exchange(process.compared_at, at) == at) return;  // Comparing takes long.
  if (states_.at(at) != digest_of(wire::encode(replica.cell()->snapshot()))) {
    throw Violation("the cell at " + to_string(process.life) + " has another state behind entry " +
                    std::to_string(at));
  }
}

/// As the gateway does (libdag/keeper), which is told by its record.
void World::look_at_cancel(const CellReplica& replica) {
  if (!cancel_asked_ || cancel_acknowledged_ || !replica.leads() || !replica.is_cancelled()) return;
  ++seen["a cancel was acknowledged"];
  cancel_acknowledged_ = true;
  told_in_ = std::max(told_in_, replica.log().term());
}

/// I7: every later leader knows what a client was told. A client asks again for the rest. A replica that was
/// stopped before it heard that it leads hears it when others have long led in later terms.
void World::leads_now(Process& process) {
  ++seen["a cell got a leader"];
  const bool is_later = process.replica->log().term() >= told_in_;
  if (!is_later) ++seen["a leader heard late that it leads"];
  for (const auto& [task, attempt] : attempts_) {
    if (!is_later) break;
    const auto known = process.replica->cell()->settled(task);
    if (!known || known->attempt != attempt) {
      throw Violation("a new leader does not know of task " + to_string(task) +
                      ", of which a client was told");
    }
  }
  if (is_later && cancel_acknowledged_ && !process.replica->is_cancelled())
    throw Violation("a new leader does not know that the job is cancelled, of which a client was told");
  if (cancel_asked_ && !cancel_acknowledged_) process.replica->cancel({}, clock_of(process));
  process.replica->follow(ClientId{1}, {}, clock_of(process));
  process.replica->keep(wanted_, clock_of(process));
}

}  // namespace dag::sim
