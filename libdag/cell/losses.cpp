// Lives come and go: charges for deaths, new homes for the shards of the dead, and the message that a new
// home gets.

#include <algorithm>

#include "libdag/base/spawned.hpp"
#include "libdag/cell/cell.hpp"

namespace dag {
namespace {

/// Everybody is told of all of them with each state. One that finds no room runs again as any other does.
constexpr std::size_t suspects_max = 512;
constexpr std::size_t why_suspect_bytes_max = 256;

/// Counts one more; returns how often it is by now.
std::uint32_t count(std::vector<message::Crashed>& among, TaskId task, const std::string& what) {
  auto at =
      std::lower_bound(among.begin(), among.end(), task,
                       [](const message::Crashed& crashed, TaskId wanted) { return crashed.task < wanted; });
  if (at == among.end() || at->task != task) at = among.insert(at, {task, 0, {}});
  at->what = what;
  return ++at->times;
}

}  // namespace

void Cell::on_lives_up(const std::vector<Life>& lives, Instant now) {
  if (state_.ended || std::none_of(lives.begin(), lives.end(), [&](Life life) { return is_new(life); }))
    return;
  ++state_.version;
  for (const Life life : lives) {
    if (is_new(life)) add(life, now);
  }
  give_orphans(now);
}

/// Not one that is there or was, nor one that came before it.
bool Cell::is_new(Life life) const {
  const auto dead = gone_.find(life.process);
  const bool died = dead != gone_.end() && life.incarnation <= dead->second;
  if (died && !is_planted(options_.planted, PlantedInCell::dead_come_back)) return false;
  return std::none_of(state_.lives.begin(), state_.lives.end(), [&](Life known) {
    return known.process == life.process && known.incarnation >= life.incarnation;
  });
}

void Cell::add(Life life, Instant now) {
  const std::vector<Life> lives = state_.lives;
  for (const Life older : lives) {
    if (older.process == life.process) remove(older, "it came again", now);
  }
  state_.lives.insert(std::upper_bound(state_.lives.begin(), state_.lives.end(), life), life);
  say({}, {}, now, [&] { return event::Member{life, event::MemberChange::up}; });
  tell_plan(life);
}

void Cell::remove(Life life, const std::string& why, Instant now) {
  std::erase(state_.lives, life);
  std::erase(state_.recorders, life);
  Incarnation& dead = gone_[life.process];
  dead = std::max(dead, life.incarnation);
  say({}, {}, now, [&] { return event::Member{life, event::MemberChange::down, why}; });
}

void Cell::on_life_down(Life life, Instant now, const LifeEnd& how) {
  if (state_.ended || !alive(life)) return;
  DAG_CHECK(life != state_.cell);
  ++state_.version;
  remove(life, how.what, now);
  blame(how, now);
  give_orphans(now);
}

void Cell::blame(const LifeEnd& how, Instant now) {
  std::vector<RunningAttempt> running = how.running;
  // A page that was cut off in the middle of a word may name anything.
  std::erase_if(running, [&](const RunningAttempt& attempt) {
    return shard_of(*plan_, attempt.task) >= plan_->shards;
  });
  for (RunningAttempt& attempt : running) {
    const message::Crashed* known = message::suspicions_of(state_, attempt.task);
    attempt.suspected = known == nullptr ? 0 : known->times;
  }
  for (const Charge& charge : charges(how.end, how.guilty_lane, running)) {
    const bool room =
        state_.suspects.size() < suspects_max || message::suspicions_of(state_, charge.task) != nullptr;
    if (charge.suspect && room)
      count(state_.suspects, charge.task, how.what.substr(0, why_suspect_bytes_max));
    if (charge.exit != Exit::failed) continue;
    const std::uint32_t times = count(state_.crashed, charge.task, how.what);
    say(charge.task, {}, now, [&] { return event::Crashed{times, how.what}; });
  }
}

/// The lives have changed: tells all members, and gives shards without a home to lives that may have them.
void Cell::give_orphans(Instant now) {
  std::vector<std::uint32_t> orphans;
  if (!message::lives_that_run(state_).empty()) {
    for (std::uint32_t shard = 0; shard < plan_->shards; ++shard) {
      if (!alive(state_.homes[shard].home)) orphans.push_back(shard);
    }
  }
  for (const std::uint32_t shard : orphans) give(shard, now);
  if (state_.ended) return;  // A shard was lost too often.
  tell_state();
  for (const std::uint32_t shard : orphans) send(state_.homes[shard].home, assignment(shard));
}

message::Assign Cell::assignment(std::uint32_t shard) const {
  message::Assign assign;
  assign.job = plan_->job;
  assign.shard = shard;
  assign.epoch = state_.homes[shard].epoch;
  assign.asked = state_.lives;
  // Includes all that the shard's rows rest on; settled outcomes rest on settled ones only.
  std::vector<std::uint64_t> around(followed_.size());
  plan_->graph->each_edge([&](const detail::Edge& edge, std::uint32_t) {
    if (plan_->shard_of[edge.successor] != shard) return;
    around[edge.predecessor / 64] |= std::uint64_t{1} << edge.predecessor % 64;
  });
  assign.settled.reserve(log_[shard].size());
  each_settled(shard, [&](const OutcomeRecord& record, Life) { assign.settled.push_back(record); });
  for (const auto& [epoch, known] : first_try_) {
    message::FirstTry tried{epoch, {}};
    for (std::uint32_t word = 0; word < known.size(); ++word) {
      message::TaskBits some{{0, word * 64}, 0};
      message::TaskBits{{0, word * 64}, known[word]}.each([&](TaskId task) {
        const std::uint64_t bit = message::bit_of(task).bits;
        if (plan_->shard_of[task.index] == shard || (around[word] & bit) != 0) some.bits |= bit;
      });
      if (some.bits != 0) tried.tasks.push_back(some);
    }
    if (!tried.tasks.empty()) assign.first_try.push_back(std::move(tried));
  }
  for (std::uint32_t word = 0; word < around.size(); ++word) {
    message::TaskBits{{0, word * 64}, around[word]}.each([&](TaskId task) {
      const auto ended = settled_.find(task);
      if (ended == settled_.end() || plan_->shard_of[task.index] == shard) return;
      assign.settled.push_back(ended->second.record);
    });
  }
  for (const TaskId task : kept_) {
    if (shard_of(*plan_, task) == shard) assign.kept.push_back({task, {}});
  }
  for (const TaskId task : cancelled_) {
    if (shard_of(*plan_, task) == shard) assign.cancelled.push_back(task);
  }
  for (const auto& [task, failed] : tried_) {
    if (shard_of(*plan_, task) == shard) assign.tried.push_back({task, failed});
  }
  for (const TaskId task : started_) {
    if (shard_of(*plan_, task) == shard) assign.started.push_back(task);
  }
  return assign;
}

/// To the life with the fewest shards, of those that run.
void Cell::give(std::uint32_t shard, Instant now) {
  const std::vector<Life> places = message::lives_that_run(state_);
  Life best = places.front();
  std::size_t fewest = SIZE_MAX;
  const std::size_t from = (options_.seed + shard) % places.size();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Life life = places[(from + i) % places.size()];
    const auto has = static_cast<std::size_t>(std::count_if(
        state_.homes.begin(), state_.homes.end(), [&](const auto& home) { return home.home == life; }));
    if (has < fewest) {
      fewest = has;
      best = life;
    }
  }
  message::ShardHome& home = state_.homes[shard];
  home.home = best;
  ++home.epoch.count;
  say({}, {}, now, [&] { return event::HomeGiven{shard, home.home, home.epoch}; });
  streams_[shard] = {};
  steps_.forget(shard);
  if (home.epoch.count < epochs_max) return;
  stop({ErrorCode::process_crashed,
        "the home of shard " + std::to_string(shard) + " was lost " + std::to_string(epochs_max - 1) +
            " times, which is the limit",
        "find out what ends the job's processes, and submit the job again"},
       now);
}

}  // namespace dag
