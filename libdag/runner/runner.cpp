#include "libdag/runner/runner.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/base/checks_itself.hpp"

namespace dag {

Runner::Runner(RunnerOptions options, std::shared_ptr<const JobPlan> plan, EventSink& records)
    : options_(options), plan_(std::move(plan)), records_(records), lease_(options.lease) {}

bool Runner::alive(Life life) const { return message::is_alive(state_, life); }

void Runner::send(Life to, JobMessage message) {
  send_ends();
  effects_.emplace_back(SendMessage{to, std::move(message)});
}

void Runner::send_ends() {
  for (message::Ended& told : std::exchange(ends_, {})) {
    const message::ShardHome& home = state_.homes[told.shard];
    told.epoch = home.epoch;
    if (home.home != options_.self && told.record.size_bytes > plan_->inline_bytes_max)
      told.record.value = {};
    effects_.emplace_back(SendMessage{home.home, std::move(told)});
  }
}

void Runner::on_state(const message::JobState& state, Instant now) {
  if (state.version <= state_.version) return;
  const message::JobState before = std::exchange(state_, state);
  if (state_.ended) {
    for (const auto& [name, taken] : attempts_) {
      if (taken.started) effects_.emplace_back(StopAttempt{name.task, name.attempt});
    }
    attempts_.clear();
    stopping_.clear();
    ends_.clear();
    // Clients that still wait for bytes wait in vain.
    for (const auto& [name, sought] : sought_) {
      for (const std::uint64_t ticket : sought.tickets) {
        effects_.emplace_back(Brought{ticket, name, {}, why_over(state_)});
      }
    }
    sought_.clear();
    held_.clear();
    accepted_.clear();
    bytes_held_ = 0;
    lease_.want(false);
    return;
  }
  if (state_.term != before.term || state_.cell != before.cell) lease_.ask_at_once();
  for (std::uint32_t shard = 0; shard < state_.homes.size(); ++shard) {
    // The first homes know that nobody has anything yet; later ones wait for a word of everybody.
    const Epoch known = before.homes.empty() ? Epoch{1, 1} : before.homes[shard].epoch;
    const bool has_home = state_.homes[shard].home != Life{};
    if (has_home && state_.homes[shard].epoch != known) report(shard);
  }
  std::vector<OutputName> names;
  for (auto& [name, sought] : sought_) {
    std::erase_if(sought.holders, [&](Life life) { return !alive(life); });
    std::erase_if(sought.gone, [&](Life life) { return !alive(life); });
    if (sought.asked && !alive(*sought.asked)) sought.asked.reset();
    const bool home_moved =
        !before.homes.empty() && state_.homes[sought.shard].epoch != before.homes[sought.shard].epoch;
    if (home_moved) {
      sought.home_asked = false;
      sought.replicas.clear();  // The new home orders the copies it lacks; old orders may be void.
    }
    names.push_back(name);
  }
  for (const OutputName& name : names) {
    if (const auto found = sought_.find(name); found != sought_.end()) pursue(name, found->second, now);
  }
}

void Runner::on_message(Life from, const JobMessage& any, Instant now) {
  if (state_.ended) return;
  // Orders of a former home count for nothing; the new one knows our content.
  if (const auto named = shard_epoch_of(any)) {
    if (named->shard >= state_.homes.size() || named->epoch != state_.homes[named->shard].epoch) return;
  }
  if (const auto* lend = std::get_if<message::Lend>(&any)) {
    take(*lend, now);
  } else if (const auto* stop = std::get_if<message::Stop>(&any)) {
    this->stop(*stop);
  } else if (const auto* let = std::get_if<message::Release>(&any)) {
    for (const OutputName& name : let->names) let_go(name);
  } else if (const auto* replicate = std::get_if<message::Replicate>(&any)) {
    const OutputName name = replicate->record.name();
    if (replicate->record.value) {
      keep(*replicate, replicate->record.value);
      return;
    }
    if (held_.contains(name) && held_.at(name).bytes) {
      send(from, message::Holding{plan_->job, replicate->shard, replicate->epoch, name});
      keep(*replicate, held_.at(name).bytes);
      return;
    }
    sought_[name].replicas.push_back(*replicate);
    seek(name, replicate->shard, replicate->holders, now);
  } else if (const auto* fetch = std::get_if<message::Fetch>(&any)) {
    auto found = held_.find(fetch->name);
    if (found == held_.end() && is_planted(options_.planted, PlantedInRunner::fetch_mixes_attempts)) {
      found = held_.lower_bound({fetch->name.task, {}});
      if (found != held_.end() && found->first.task != fetch->name.task) found = held_.end();
    }
    if (found == held_.end() || !found->second.bytes) {
      send(from, message::Missing{plan_->job, fetch->name});
    } else {
      send(from, message::Data{plan_->job, found->second.record, found->second.bytes, fetch->name, 0});
    }
  } else if (const auto* data = std::get_if<message::Data>(&any)) {
    // Bytes of a name are the same from whomever they come.
    std::vector<OutputName> for_names;
    for (const auto& [name, sought] : sought_) {
      if (name == data->name || sought.under == data->name) for_names.push_back(name);
    }
    for (const OutputName& name : for_names) arrived(name, data->record, data->bytes, now);
  } else if (const auto* missing = std::get_if<message::Missing>(&any)) {
    std::vector<OutputName> for_names;
    for (const auto& [name, sought] : sought_) {
      if (sought.under == missing->name && sought.asked == from) for_names.push_back(name);
    }
    for (const OutputName& name : for_names) {
      Sought& sought = sought_.at(name);
      std::erase(sought.holders, from);
      sought.gone.push_back(from);
      sought.asked.reset();
      pursue(name, sought, now);
    }
  } else if (const auto* renewed = std::get_if<message::LeaseRenewed>(&any)) {
    lease_.answered(renewed->number);
    std::vector<OutputName> names;
    for (const auto& [name, taken] : attempts_) {
      if (needs_lease(taken) && !taken.started) names.push_back(name);
    }
    for (const OutputName& name : names) {
      if (const auto found = attempts_.find(name); found != attempts_.end())
        start_if_complete(found->second, now);
    }
  } else if (const auto* located = std::get_if<message::Located>(&any)) {
    const auto found = sought_.find(located->asked);
    if (found == sought_.end() || found->second.asked) return;
    if (located->record.task == TaskId{} && located->record.attempt == AttemptId{}) return;
    // A home from before that attempt was made, which has not heard that it is one no more.
    if (located->epoch < located->asked.attempt.epoch) return;
    Sought& sought = found->second;
    if (located->lost || located->holders.empty()) {
      return give_up(located->asked,
                     located->lost.value_or(Error{ErrorCode::output_lost, "the output is superseded"}), now);
    }
    sought.under = located->record.name();
    sought.holders = located->holders;
    sought.gone.clear();
    pursue(located->asked, sought, now);
  }
}

// ---- Attempts

/// The home hears of it when no kernel of the attempt runs here, even if none has begun or ever will: a stop
/// may come before its attempt.
void Runner::stop(const message::Stop& order) {
  accepted_[order.shard][order.epoch].insert(order.name);
  const auto found = attempts_.find(order.name);
  const bool runs = found != attempts_.end() && found->second.started;
  if (found != attempts_.end()) {
    if (!is_planted(options_.planted, PlantedInRunner::stopped_attempt_waits)) stop_waiting(order.name);
    if (runs) {
      stopping_[order.name] = {order.shard, needs_lease(found->second)};
      effects_.emplace_back(StopAttempt{order.name.task, order.name.attempt});
    }
    if (!is_planted(options_.planted, PlantedInRunner::stop_forgotten)) attempts_.erase(found);
  }
  if (!runs && !stopping_.contains(order.name)) say_stopped(order.name, order.shard);
}

/// Inputs that no other attempt waits for are forgotten when they are looked at next.
void Runner::stop_waiting(const OutputName& attempt) {
  for (auto& [name, sought] : sought_) sought.attempts.erase(attempt);
}

void Runner::say_stopped(const OutputName& name, std::uint32_t shard) {
  const message::ShardHome& home = state_.homes[shard];
  send(home.home, message::Return{plan_->job, shard, home.epoch, name, {}, "it was stopped", {}});
}

void Runner::take(const message::Lend& lend, Instant now) {
  const OutputName name{lend.attempt.task, lend.attempt.id};
  if (!accepted_[lend.shard][lend.epoch].insert(name).second &&
      !is_planted(options_.planted, PlantedInRunner::attempt_accepted_twice)) {
    return;
  }
  Taken& taken = attempts_[name];
  taken.lend = lend;
  taken.since = now;
  std::vector<const message::WantedInput*> to_seek;
  for (std::uint32_t i = 0; i < lend.wanted.size(); ++i) {
    const message::WantedInput& wanted = lend.wanted[i];
    const auto held = held_.find(wanted.name);
    if (held != held_.end() && held->second.bytes) {
      Blob& into = wanted.position == detail::none ? taken.lend.attempt.restore_from
                                                   : taken.lend.attempt.blobs[wanted.position];
      into = held->second.bytes;
      continue;
    }
    taken.open.insert(i);
    to_seek.push_back(&wanted);
  }
  for (const message::WantedInput* wanted : to_seek) {
    sought_[wanted->name].attempts.insert(name);
    seek(wanted->name, wanted->shard, wanted->holders, now);
  }
  const auto still = attempts_.find(name);
  if (still != attempts_.end()) start_if_complete(still->second, now);
}

void Runner::start_if_complete(Taken& taken, Instant now) {
  if (taken.started || !taken.open.empty()) return;
  const Attempt& attempt = taken.lend.attempt;
  if (attempt.call != detail::CallKind::ordinary &&
      !is_planted(options_.planted, PlantedInRunner::generation_ignored)) {
    // A job actor's object is made by one attempt, and only that making is meant by the calls that name it.
    AttemptId& newest = generations_[attempt.actor];
    if (attempt.call == detail::CallKind::create) {
      if (attempt.generation < newest) {
        return give_back({attempt.task, attempt.id}, {}, "a newer object of this job actor is here");
      }
      newest = attempt.generation;
      supersede(attempt.actor, newest);
    } else if (attempt.generation != newest) {
      return give_back({attempt.task, attempt.id}, {}, "the object of this job actor is not here");
    }
  }
  if (needs_lease(taken)) {
    lease_.want(true);
    ask_for_lease(now);
    if (!lease_.held(now)) return;
    under_lease_ = true;
  }
  taken.started = true;
  effects_.emplace_back(StartAttempt{attempt, Priority::normal});
}

bool Runner::needs_lease(const Taken& taken) const {
  const bool record_is_here_alone = state_.replicas == 1 && state_.cell == options_.self;
  return taken.lend.attempt.exclusive && taken.open.empty() && !record_is_here_alone;
}

void Runner::ask_for_lease(Instant now) {
  if (const auto number = lease_.question(now)) send(state_.cell, message::RenewLease{plan_->job, *number});
}

void Runner::look_at_lease(Instant now) {
  bool wanted = false;
  under_lease_ = false;
  std::optional<TaskId> runs;  ///< the first whose kernel may be running under the lease
  for (const auto& [name, taken] : attempts_) {
    if (!needs_lease(taken)) continue;
    wanted = true;
    if (taken.started && !runs) runs = name.task;
  }
  // A kernel that was told to stop runs under it, too.
  for (const auto& [name, stopping] : stopping_) {
    if (!stopping.needs_lease) continue;
    wanted = true;
    if (!runs) runs = name.task;
  }
  if (runs && !lease_.held(now) && !is_planted(options_.planted, PlantedInRunner::lease_not_looked_at)) {
    effects_.emplace_back(LeaseLost{*runs});
    return lease_.want(false);
  }
  under_lease_ = runs.has_value();
  lease_.want(wanted || is_planted(options_.planted, PlantedInRunner::lease_kept));
  ask_for_lease(now);
}

/// The object is made anew: its home has given up attempts of older creations here, and the order to stop
/// those may come later than the new creation. (Seed 17500: a create that waited for a lane ran behind the
/// one that replaced it, and put an object there that the next call did not mean.)
void Runner::supersede(std::uint32_t actor, AttemptId newest) {
  for (auto at = attempts_.begin(); at != attempts_.end();) {
    const auto& [name, taken] = *at;
    const Attempt& older = taken.lend.attempt;
    if (older.call == detail::CallKind::ordinary || older.actor != actor || older.generation >= newest) {
      ++at;
      continue;
    }
    if (taken.started) effects_.emplace_back(StopAttempt{name.task, name.attempt});
    stop_waiting(name);
    at = attempts_.erase(at);
  }
}

bool Runner::on_ended(AttemptEnd ended, Instant now) {
  const OutputName name{ended.task, ended.id};
  if (const auto stopped = stopping_.find(name); stopped != stopping_.end()) {
    say_stopped(name, stopped->second.shard);
    stopping_.erase(stopped);
    return true;
  }
  const auto found = attempts_.find(name);
  if (found == attempts_.end() || !found->second.started) return false;
  const message::Lend lend = std::move(found->second.lend);
  attempts_.erase(found);
  runs_.observe(ended.ran);
  if (records_.wants_runs()) {
    say(ended.task, ended.id, now, [&] {
      return event::Ran{ended.outcome, ended.ran, ended.error ? ended.error->what : std::string()};
    });
  }
  message::Ended told;
  told.job = plan_->job;
  told.shard = lend.shard;
  told.ran = ended.ran;
  OutcomeRecord& record = told.record;
  record.task = ended.task;
  record.attempt = ended.id;
  record.outcome = ended.outcome;
  record.inputs = lend.attempt.inputs;
  record.conditions = std::move(ended.conditions);
  record.becomes = ended.becomes;
  record.error = std::move(ended.error);
  record.has_output = static_cast<bool>(ended.output);
  record.size_bytes = ended.output.size_bytes();
  const bool stands_for_itself = !lend.attempt.stands_for;
  // A run that makes a value again is compared with the first one as soon as it ends.
  record.digest_follows =
      ended.output && stands_for_itself && record.size_bytes > options_.digest_at_once_bytes_max;
  if (ended.output && !record.digest_follows) record.digest = digest_of(ended.output);
  if (record.size_bytes <= plan_->inline_bytes_max) record.value = ended.output;
  record.grew = ended.spawned != nullptr;
  if (stands_for_itself) record.spawned = std::move(ended.spawned);
  if (record.outcome == Outcome::finished) {
    OutcomeRecord kept = record;
    if (!stands_for_itself) kept.attempt = lend.attempt.stands_for;
    hold(std::move(kept), ended.output, stands_for_itself);
  }
  // By reference: it is the same process.
  if (state_.homes[lend.shard].home == options_.self) record.value = ended.output;
  if (ends_.empty()) ends_leave_at_ = now + options_.ends_wait_max;
  ends_.push_back(std::move(told));
  const bool more_to_do = attempts_.size() >= options_.lanes;
  if (!more_to_do || lend.attempt.call != detail::CallKind::ordinary) send_ends();
  return true;
}

void Runner::on_checkpoint(TaskId task, AttemptId id, Saved saved) {
  const auto found = attempts_.find({task, id});
  if (found == attempts_.end() || !found->second.started) return;
  Taken& taken = found->second;
  const Attempt& attempt = taken.lend.attempt;
  if (!attempt.checkpoints || taken.checkpoints == checkpoints_per_attempt) return;
  const OutputName name{task, {id.epoch, attempt.checkpoints->first_number + taken.checkpoints++}};
  OutcomeRecord record = saved_record(name, attempt.inputs, saved);
  hold(record, std::move(saved.bytes), false);
  const std::uint32_t shard = taken.lend.shard;
  const message::ShardHome& home = state_.homes[shard];
  send(home.home, message::Checkpointed{plan_->job, shard, home.epoch, std::move(record)});
}

bool Runner::may_give(const OutputName& attempt) const {
  const auto found = attempts_.find(attempt);
  return !state_.ended && found != attempts_.end() && found->second.started && !found->second.lend.stays;
}

void Runner::give(const OutputName& attempt, Life thief) {
  DAG_CHECK(may_give(attempt));
  give_back(attempt, {}, "another process asked for work", thief);
}

std::optional<Duration> Runner::mean_run() const {
  return runs_.observations() == 0 ? std::nullopt : std::optional(runs_.mean());
}

void Runner::give_back(const OutputName& name, std::vector<OutputName> missing, std::string why,
                       std::optional<Life> thief) {
  const auto found = attempts_.find(name);
  DAG_CHECK(found != attempts_.end());
  const std::uint32_t shard = found->second.lend.shard;
  attempts_.erase(found);
  stop_waiting(name);
  const message::ShardHome& home = state_.homes[shard];
  send(home.home,
       message::Return{plan_->job, shard, home.epoch, name, std::move(missing), std::move(why), thief});
}

// ---- Time

void Runner::on_time(Instant now) {
  if (lease_.ask_at()) look_at_lease(now);
  if (!ends_.empty() && ends_leave_at_ <= now) send_ends();
  std::vector<OutputName> names;
  for (auto& [name, sought] : sought_) {
    if (sought.ask_again_at > now) continue;
    sought.asked.reset();
    sought.home_asked = false;
    names.push_back(name);
  }
  for (const OutputName& name : names) pursue(name, sought_.at(name), now);
}

std::optional<Instant> Runner::wake_at() const {
  std::optional<Instant> at;
  if (!ends_.empty()) at = ends_leave_at_;
  if (const auto ask_at = lease_.ask_at()) {
    const bool ends = under_lease_ && !is_planted(options_.planted, PlantedInRunner::lease_not_looked_at);
    const Instant look_at = ends ? std::min(*ask_at, lease_.over_at()) : *ask_at;
    if (!at || look_at < *at) at = look_at;
  }
  if (state_.version == 0) return at;  // With the first state it is looked for.
  for (const auto& [name, sought] : sought_) {
    if (!at || sought.ask_again_at < *at) at = sought.ask_again_at;
  }
  return at;
}

std::vector<RunnerEffect> Runner::take_effects() {
  if (checks_itself) check_invariants();
  return std::exchange(effects_, {});
}

}  // namespace dag
