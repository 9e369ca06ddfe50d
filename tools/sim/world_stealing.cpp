// Thieves, and the queues that victims give of. Victims decide as real processes do (JobHere).
//
// Mostly thieves ask anybody, and are given whatever they ask for. Where some kernels run for seconds,
// thieves decide as real processes do, too, victims are told how busy lanes are, and nothing may wait beside
// lanes that have nothing to do.

#include <algorithm>

#include "libdag/stealing/questions.hpp"
#include "tools/sim/world.hpp"

namespace dag::sim {

// ---- Thieves

void World::look_for_work(Life life) {
  events_.after(millis(1, 8), [this, life] {
    Process* mine = find(life);
    if (mine == nullptr || over()) return;
    if (mine->queue.empty() && mine->lanes_busy < options_.lanes && mine->state().lives.size() > 1) {
      const Life victim = mine->state().lives[random_.below(mine->state().lives.size())];
      if (victim != life)
        send(life, victim, message::StealRequest{plan_->job, options_.lanes - mine->lanes_busy});
    }
    look_for_work(life);
  });
}

/// As NodeActor::steal.
void World::look_as_thief(Life life) {
  Process* mine = find(life);
  if (mine == nullptr || over()) return;
  const std::uint32_t dry = free_lanes(*mine);
  if (dry > 0 && mine->queue.empty()) {
    if (const auto victim = mine->thief.next(victims_of(*mine), clock_of(*mine)))
      send(life, *victim, message::StealRequest{plan_->job, dry});
  }
  Duration pause = std::chrono::microseconds(5000 + stragglers_.below(5000));
  if (const auto wake = when(*mine, mine->thief.wake_at()))
    pause = std::max<Duration>(*wake - now(), std::chrono::milliseconds(1));
  events_.after(pause, [this, life] { look_as_thief(life); });
}

/// The views come from gossip: some of them are not true any more.
std::vector<VictimView> World::victims_of(const Process& process) {
  std::vector<VictimView> views;
  for (const Life life : lives_that_run(process.state())) {
    if (life == process.life) continue;
    VictimView& view = views.emplace_back(VictimView{.life = life, .round_trip = lending_round_trip});
    const Process* there = find(life);
    if (there == nullptr || stragglers_.chance(0.3)) continue;
    view.tasks_ready = static_cast<std::uint32_t>(there->queue.size());
    view.wait = std::chrono::milliseconds(view.tasks_ready);
  }
  const auto behind = std::find_if(views.begin(), views.end(),
                                   [&](const VictimView& view) { return process.life < view.life; });
  std::rotate(views.begin(), behind, views.end());
  return views;
}

// ---- Those that are asked

bool World::one_waits_to_be_alone(const Process& process) {
  return std::any_of(process.queue.begin(), process.queue.end(),
                     [](const Work& work) { return work.attempt != nullptr && work.attempt->alone; });
}

std::vector<Duration> World::running_for(const Process& process) const {
  std::vector<Duration> running;
  if (is_planted(options_.planted.lanes, PlantedInLanes::stragglers_overlooked)) return running;
  for (const auto& [lane, since] : process.running_since) running.push_back(now() - since);
  // A row that has to be alone keeps all lanes, and so does a row that waits to be alone.
  if ((process.alone || one_waits_to_be_alone(process)) && !running.empty())
    running.resize(options_.lanes, *std::min_element(running.begin(), running.end()));
  return running;
}

/// The number of lanes that may begin something.
std::uint32_t World::free_lanes(const Process& process) const {
  if (process.alone || one_waits_to_be_alone(process)) return 0;
  return options_.lanes - process.lanes_busy;
}

Waiting World::waiting_at(const Process& process, std::optional<Duration> mean_run) const {
  // As many as are asked for, whatever waits: all that can be lent has to be lent now and then.
  if (!steals_by_policy()) return {.rows = 1u << 20, .mean_run = std::chrono::hours(1)};
  const Waiting waiting{static_cast<std::uint32_t>(process.queue.size()), options_.lanes, free_lanes(process),
                        mean_run};
  return behind(waiting, running_for(process));
}

std::vector<RowIndex> World::take_rows(Process& process, std::uint32_t shard, std::uint32_t most) {
  std::vector<RowIndex> rows;
  std::erase_if(process.queue, [&](const Work& work) {
    if (rows.size() == most || work.attempt || work.shard != shard) return false;
    rows.push_back(work.row);
    return true;
  });
  if (!rows.empty()) ++seen["lent to a thief"];
  return rows;
}

std::vector<OutputName> World::take_attempts(Process& process, std::uint32_t most,
                                             const std::function<bool(const OutputName&)>& may_go) {
  std::vector<OutputName> attempts;
  if (!options_.steal_attempts) return attempts;
  std::erase_if(process.queue, [&](const Work& work) {
    if (attempts.size() == most || !work.attempt) return false;
    const OutputName name{work.attempt->task, work.attempt->id};
    if (process.stopped.contains(name) || !may_go(name)) return false;
    attempts.push_back(name);
    return true;
  });
  if (attempts.empty()) return attempts;
  const bool of_runner = process.job->runner().may_give(attempts.front());
  ++seen[of_runner ? "attempts given back for a thief" : "attempts lent to a thief"];
  return attempts;
}

std::unique_ptr<HomePlacement> World::true_loads(Life life, std::uint64_t seed, TrueLoads*& placer) {
  TrueLoadsOptions options{seed, options_.outputs_times_larger, {}, {}};
  options.busy_for = [this, life] {
    const Process* mine = find(life);
    return mine == nullptr ? Duration{0} : all_busy_for(options_.lanes, running_for(*mine));
  };
  options.loads = [this] {
    std::vector<LifeLoad> loads;
    for (const auto& process : processes_) {
      if (!process->up) continue;
      LifeLoad load{process->life, {process->life.process, {}}, options_.lanes, {}, Duration{0}};
      load.queue.lanes_free = free_lanes(*process);
      load.queue.tasks_ready = static_cast<std::uint32_t>(process->queue.size());
      constexpr std::uint64_t memory = 1ull << 40;
      load.devices.devices.push_back(
          {"cpu", {options_.lanes, 0, memory}, {load.queue.lanes_free, 0, memory}});
      loads.push_back(std::move(load));
    }
    return loads;
  };
  auto made = std::make_unique<TrueLoads>(std::move(options));
  placer = made.get();
  return made;
}

// ---- Kernels that run long

Duration World::straggles() {
  if (stragglers_left_ == 0 || !stragglers_.chance(0.2)) return Duration{0};
  --stragglers_left_;
  ++seen["a straggler"];
  return std::chrono::milliseconds(3000 + stragglers_.below(3000));
}

// ---- What must hold

/// I13, when nothing is broken any more.
void World::look_at_waiting_work(Instant at) {
  if (at < options_.calm_at || over()) return conservation_.disturbed(at);
  std::vector<WaitingWork> waiting;
  std::vector<FreeLane> free;
  for (const auto& process : processes_) {
    if (!process->up || process->state().lives.empty()) continue;
    const std::vector<Life> known = lives_that_run(process->state());
    const bool takes_part = std::binary_search(known.begin(), known.end(), process->life);
    const auto others = std::count_if(processes_.begin(), processes_.end(), [](const auto& other) {
      return other->up && !other->state().lives.empty();
    });
    // A process that does not know all members, or that they do not know, has nobody to ask or to give to.
    if (!takes_part || static_cast<std::ptrdiff_t>(known.size()) != others) conservation_.disturbed(at);
    if (free_lanes(*process) > 0) free.push_back({process->life, plan_->job, process->lanes_changed});
    const bool nobody_asks = !steals_by_policy();
    for (const auto& [shard, box] : process->homes) {
      if (box->home.recounting()) continue;
      for (RowIndex row = 0; row < box->table.size(); ++row) {
        const Word word = box->table.word(row);
        if (word.state != RowState::ready || box->table[row].ghost) continue;
        waiting.push_back({process->life,
                           plan_->job,
                           box->table.id(row),
                           {box->home.epoch(), word.attempt},
                           nobody_asks,
                           {}});
      }
    }
    for (const Work& work : process->queue) {
      if (work.attempt == nullptr || process->stopped.contains({work.attempt->task, work.attempt->id}))
        continue;
      // A lane has what waits to be alone, and does not give it back.
      const bool bound = work.attempt->call != detail::CallKind::ordinary || work.attempt->exclusive ||
                         work.attempt->stands_for || work.attempt->alone;
      const message::JobState& state = process->state();
      std::optional<Life> not_at;
      if (message::crashes_of(state, work.attempt->task) || message::suspicions_of(state, work.attempt->task))
        not_at = state.cell;
      waiting.push_back(
          {process->life, plan_->job, work.attempt->task, work.attempt->id, nobody_asks || bound, not_at});
    }
  }
  if (const auto wrong = conservation_.look(at, waiting, free)) throw Violation(*wrong + ": " + stuck());
}

}  // namespace dag::sim
