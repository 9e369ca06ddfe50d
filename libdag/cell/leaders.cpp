// A cell as what its log made of it: commands, leaders that come one after the other, snapshots.

#include <algorithm>

#include "libdag/base/overloaded.hpp"
#include "libdag/cell/cell.hpp"

namespace dag {

void Cell::apply(CellCommand any, std::uint32_t term, Instant now) {
  std::visit(Overloaded{[&](const command::Lead& word) { lead(word, term, now); },
                        [&](const command::Said& said) { on_message(said.from, said.message, now); },
                        [&](const command::LivesUp& up) { on_lives_up(up.lives, now); },
                        [&](const command::LifeDown& down) { on_life_down(down.life, now, down.how); },
                        [&](const command::Keep& order) { keep(order.tasks, now); },
                        [&](const command::Cancel& order) { cancel(order.tasks, now); },
                        [&](command::Stop& order) { stop(std::move(order.why), now); },
                        [&](const command::Close&) { close(); }},
             any);
}

void Cell::lead(const command::Lead& word, std::uint32_t term, Instant now) {
  state_.cell = word.leader;
  state_.term = term;
  if (state_.version == 0) return begin(word.up, {}, now);
  ++state_.version;
  if (state_.ended) {
    for (const Life life : closed_) send(life, state_);
    return tell_state();
  }
  const std::vector<Life> lives = state_.lives;
  for (const Life life : lives) {
    const bool gone = std::any_of(word.down.begin(), word.down.end(), [&](Life down) {
      return life.process == down.process && life.incarnation <= down.incarnation;
    });
    if (gone && life != word.leader) remove(life, "found by " + to_string(word.leader), now);
  }
  for (const Life life : word.up) {
    if (is_new(life)) add(life, now);
  }
  if (!options_.self_runs && alive(word.leader)) {
    const auto place = std::lower_bound(state_.recorders.begin(), state_.recorders.end(), word.leader);
    if (place == state_.recorders.end() || *place != word.leader) state_.recorders.insert(place, word.leader);
  }
  say_again();
  give_orphans(now);
}

/// Repeats all messages that the former leader may not have sent, except the state and the plan: a process
/// without the plan asks for it when it hears of the state.
void Cell::say_again() {
  if (is_planted(options_.planted, PlantedInCell::leader_silent)) return;
  std::vector<message::Settled> news(plan_->shards);
  for (const auto& [task, shards] : listeners_) {
    const auto record = settled({0, task});
    if (!record) continue;
    for (const std::uint32_t to : shards) news[to].predecessors.push_back(*record);
  }
  for (std::uint32_t shard = 0; shard < plan_->shards; ++shard) {
    const auto& [home, epoch] = state_.homes[shard];
    if (!alive(home)) continue;
    if (!streams_[shard].heard && epoch.count > 1) send(home, assignment(shard));
    if (streams_[shard].position == 0) continue;
    message::Settled& said = news[shard];
    said.job = plan_->job;
    said.shard = shard;
    said.epoch = epoch;
    said.to = streams_[shard].position;
    said.outcomes = streams_[shard].outcomes;
    said.steps = steps_.taken(shard);
    send(home, std::move(said));
  }
  send_kept(std::vector<TaskId>(kept_.begin(), kept_.end()));
  send_cancelled(std::vector<TaskId>(cancelled_.begin(), cancelled_.end()));
}

std::optional<JobIsOver> Cell::ended() const {
  if (!done_) return std::nullopt;
  return JobIsOver{state_.stopped, state_.cancelled};
}

CellSnapshot Cell::snapshot() const {
  DAG_CHECK(state_.version == 0 || recountable_);
  check_invariants();  // Before it is written, and again when it was read.
  CellSnapshot whole;
  whole.plan = plan_;
  whole.leaders_run = options_.self_runs;
  whole.replicas = options_.replicas;
  whole.state = state_;
  if (state_.version == 0) {
    whole.state = {};
    whole.state.homes = state_.homes;
  }
  for (std::uint32_t shard = 0; shard < plan_->shards; ++shard) {
    const Stream& stream = streams_[shard];
    ShardSnapshot one{stream.position,
                      stream.outcomes,
                      stream.rows_open,
                      stream.heard,
                      steps_.taken(shard),
                      steps_.waiting(shard),
                      {}};
    if (is_planted(options_.planted, PlantedInCell::snapshot_forgets_said)) one.waiting.clear();
    each_settled(shard, [&](const OutcomeRecord& record, Life home) {
      one.settled.push_back({record, home});
    });
    whole.shards.push_back(std::move(one));
  }
  for (const auto& [epoch, known] : first_try_) {
    message::FirstTry tried{epoch, {}};
    for (std::uint32_t word = 0; word < known.size(); ++word) {
      if (known[word] != 0) tried.tasks.push_back({{0, word * 64}, known[word]});
    }
    if (!tried.tasks.empty()) whole.first_try.push_back(std::move(tried));
  }
  for (const auto& [task, failed] : tried_) whole.tried.push_back({task, failed});
  whole.started.assign(started_.begin(), started_.end());
  whole.kept.assign(kept_.begin(), kept_.end());
  whole.cancelled.assign(cancelled_.begin(), cancelled_.end());
  if (!is_planted(options_.planted, PlantedInCell::snapshot_forgets_dead)) {
    for (const auto& [process, incarnation] : gone_) whole.gone.push_back({process, incarnation});
  }
  whole.closed = closed_;
  whole.counts = counts_;
  whole.done = done_;
  whole.attached = attached_;
  whole.retries = retries_;
  return whole;
}

Cell::Cell(CellOptions options, const CellSnapshot& from, EventSink& records)
    : Cell(
          [&] {
            options.self_runs = from.leaders_run;
            options.replicas = from.replicas;
            return options;
          }(),
          from.plan, records) {
  attached_ = from.attached;
  retries_ = from.retries;
  if (from.state.version > 0) {
    state_ = from.state;
  } else {
    state_.homes = from.state.homes;
  }
  if (state_.homes.empty()) return;
  recountable_ = true;
  for (std::uint32_t shard = 0; shard < plan_->shards; ++shard) {
    const ShardSnapshot& one = from.shards[shard];
    streams_[shard] = {one.position, one.outcomes, one.rows_open, one.heard};
    steps_.restore(shard, state_.homes[shard].epoch, one.steps, one.waiting);
    for (const SettledOutcome& recorded : one.settled) {
      const TaskId task = recorded.record.task;
      log_[shard].push_back(task);
      if (recorded.record.outcome == Outcome::none) {
        grown_.emplace(task, recorded.record);
      } else {
        note_unfinished(recorded.record);
        settled_.emplace(task, recorded);
      }
    }
  }
  for (const message::FirstTry& tried : from.first_try) {
    std::vector<std::uint64_t>& known = first_try_[tried.epoch];
    known.resize(followed_.size());
    for (const message::TaskBits& some : tried.tasks) known[some.first.index / 64] = some.bits;
  }
  for (const message::Tried& one : from.tried) tried_[one.task] = one.failed;
  started_.insert(from.started.begin(), from.started.end());
  kept_.insert(from.kept.begin(), from.kept.end());
  cancelled_.insert(from.cancelled.begin(), from.cancelled.end());
  for (const Life life : from.gone) gone_[life.process] = life.incarnation;
  closed_ = from.closed;
  counts_ = from.counts;
  done_ = from.done;
  check_invariants();
}

}  // namespace dag
