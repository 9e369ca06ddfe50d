// A job whose record has replicas in several processes, any of which may die: what they say to each other,
// their disks, who leads, and what must hold of what they agree on.

#include <algorithm>
#include <iterator>

#include "libdag/wire/cell_log.hpp"
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
    // Who submits says it until all have done it.
    const auto begin = [this, index, who, genesis] {
      Process& process = *processes_[index];
      if (!process.up) return;
      process.replica->begin(who, genesis, index == 0, now());
      drain_replica(process);
    };
    for (const std::uint64_t most_ms : {5u, 1500u, 3000u}) events_.after(millis(0, most_ms), begin);
  }
  for (std::uint32_t i = 0; i < options_.replicas_cut; ++i) {
    const auto span = static_cast<std::uint64_t>(options_.calm_at.since_start.count());
    events_.at(Instant{Duration(faults_.below(span))}, [this] {
      ++seen["a replica was cut off"];
      disks_[draw_victim()].cut_until = std::min(now() + millis(50, 1500), options_.calm_at);
    });
  }
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

void World::to_leader(std::function<bool(CellReplica&)> what) {
  if (over()) return;
  if (Process* process = leading(); process != nullptr && what(*process->replica))
    return drain_replica(*process);
  events_.after(millis(10, 50), [this, what = std::move(what)] { to_leader(what); });
}

// ---- Processes
// ------------------------------------------------------------------------------------------------

void World::start_replica(std::uint32_t index) {
  Process& process = *processes_[index];
  CellReplicaOptions options = options_.replica;
  options.self = process.life;
  options.log.self = {process.life.process, 1};
  options.log.seed = random_.next();
  process.replica = std::make_unique<CellReplica>(options, disks_[index].stored, sink(), now());
  // What membership knows by now.
  std::vector<consensus::Candidate> seats;
  for (std::uint32_t other = 0; other < options_.processes; ++other) {
    if (options_.cell_runs || other < options_.replicas) seats.push_back({{ProcessId{other}, 1}});
    if (other != index && processes_[other]->up)
      process.replica->on_life_up(life_of(other), now(), runs(other));
  }
  process.replica->on_seats(seats, {}, now());
  drain_replica(process);
}

/// Of what was being written, a beginning may be there.
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
    cell_->on_life_up(life, now());
    return drain_cell();
  }
  if (processes_[life.process.value]->replica == nullptr) start_replica(life.process.value);
  for (std::uint32_t at = 0; at < options_.processes; ++at) {
    if (at == life.process.value) continue;
    events_.after(millis(0, 20), [this, at, life] {
      Process& process = *processes_[at];
      if (over() || !process.up || process.replica == nullptr || find(life) == nullptr) return;
      process.replica->on_life_up(life, now(), runs(life.process.value));
      drain_replica(process);
    });
  }
}

// ---- Effects
// --------------------------------------------------------------------------------------------------

void World::drain_replica(Process& process) {
  const Life life = process.life;
  for (auto effects = process.replica->take_effects(); !effects.empty();
       effects = process.replica->take_effects()) {
    check_against_reference(process);
    for (CellReplicaEffect& effect : effects) carry_out(process, effect);
    if (find(life) == nullptr) return;
  }
  write_log(life.process.value);
  const Instant due = process.replica->due();
  if (process.replica_timer && *process.replica_timer <= due && *process.replica_timer >= now()) return;
  process.replica_timer = due;
  events_.at(due, [this, life, due] {
    Process* mine = find(life);
    if (mine == nullptr || over() || mine->replica_timer != due) return;
    mine->replica_timer.reset();
    mine->replica->on_time(now());
    drain_replica(*mine);
  });
}

void World::carry_out(Process& process, CellReplicaEffect& any) {
  const std::uint32_t index = process.life.process.value;
  if (auto* message = std::get_if<SendMessage>(&any)) {
    send(process.life, message->to, message->message);
  } else if (auto* tell = std::get_if<TellClient>(&any)) {
    on_settled(*tell);
  } else if (auto* end = std::get_if<JobEnded>(&any)) {
    ended_ = true;
    if (end->stopped) stopped_ = end->stopped;
  } else if (auto* one = std::get_if<SendToReplica>(&any)) {
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
    Process& process = *processes_[to];
    const bool cut = std::max(disks_[from].cut_until, disks_[to].cut_until) > now();
    if (over() || cut || !process.up || process.replica == nullptr) return;
    process.replica->on_replica_message(message, now());
    drain_replica(process);
  });
}

/// One batch at a time.
void World::write_log(std::uint32_t index) {
  ReplicaDisk& disk = disks_[index];
  if (disk.busy || disk.waiting.empty()) return;
  disk.busy = true;
  const Duration takes = std::chrono::microseconds(random_.below(random_.chance(0.1) ? 30'000 : 3000));
  events_.after(takes, [this, index, life = life_of(index), last = disk.waiting.back().number] {
    Process* process = find(life);
    if (process == nullptr) return;
    ReplicaDisk& mine = disks_[index];
    mine.busy = false;
    for (; !mine.waiting.empty() && mine.waiting.front().number <= last; mine.waiting.pop_front())
      mine.stored.put(mine.waiting.front().change);
    process->replica->on_written(last, now());
    drain_replica(*process);
  });
}

// ---- What must hold
// -------------------------------------------------------------------------------------------

/// I3, I14: what is settled is the same everywhere, and so is what it makes of a cell, whether entry by
/// entry, from a snapshot, or from a disk.
void World::check_against_reference(Process& process) {
  const CellReplica& replica = *process.replica;
  if (replica.cell() == nullptr) return;
  for (; reference_at_ < replica.applied(); ++reference_at_) {
    const consensus::Entry& entry = replica.log().entry(reference_at_ + 1);
    if (entry.type == consensus::EntryType::command) {
      const std::vector<Life> before = cell_->state().lives;
      cell_->apply(wire::decode_command(entry.command.bytes()).value_or_throw(), entry.term, now());
      cell_->take_effects();
      const std::vector<Life>& after = cell_->state().lives;
      std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                          std::inserter(buried_, buried_.end()));
      for (const Life life : after) {
        if (buried_.contains(life)) throw Violation(to_string(life) + " takes part again, and was dead");
      }
    }
    states_[reference_at_ + 1] = digest_of(wire::encode(cell_->snapshot()));
  }
  const consensus::Index at = replica.applied();
  if (at == 0) return;
  if (states_.at(at) != digest_of(wire::encode(replica.cell()->snapshot()))) {
    throw Violation("the cell at " + to_string(process.life) + " has another state behind entry " +
                    std::to_string(at));
  }
}

/// I7: what a client was told is known to every later leader.
void World::leads_now(Process& process) {
  ++seen["a cell got a leader"];
  for (const auto& [task, attempt] : attempts_) {
    const auto known = process.replica->cell()->settled(task);
    if (!known || known->attempt != attempt) {
      throw Violation("a new leader does not know of task " + to_string(task) +
                      ", of which a client was told");
    }
  }
  process.replica->follow(ClientId{1}, {}, now());
  process.replica->keep(wanted_, now());
}

}  // namespace dag::sim
