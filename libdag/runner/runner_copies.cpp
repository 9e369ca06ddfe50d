// Outputs that a runner holds, copies that it gets for others, and its reports to new homes.

#include <algorithm>

#include "libdag/runner/runner.hpp"

namespace dag {

Error Runner::why_over(const message::JobState& state) {
  return state.stopped.value_or(
      Error{ErrorCode::output_lost, "the job is over, and its outputs were released"});
}

OutcomeRecord Runner::saved_record(const OutputName& name, std::vector<OutputName> inputs,
                                   const Saved& saved) {
  OutcomeRecord record;
  record.task = name.task;
  record.attempt = name.attempt;
  record.outcome = Outcome::finished;
  record.inputs = std::move(inputs);
  record.digest = saved.digest;
  record.size_bytes = saved.bytes.size_bytes();
  record.has_output = true;
  return record;
}

void Runner::publish(OutcomeRecord record, Blob bytes) { hold(std::move(record), std::move(bytes), false); }

void Runner::hold(OutcomeRecord record, Blob bytes, bool ran_here) {
  Held& held = held_[record.name()];
  if (bytes) bytes_held_ += bytes.size_bytes() - held.bytes.size_bytes();
  const OutcomeRecord before = std::exchange(held.record, std::move(record));
  if (bytes) held.bytes = std::move(bytes);
  held.ran_here = held.ran_here || ran_here;
  // If two homes publish a copy, one may wait for its digest.
  if (!held.record.digest_follows && !before.digest_follows) return;
  held.record.digest_follows = true;
  const std::uint64_t known = held.record.digest != 0 ? held.record.digest : before.digest;
  if (known != 0) return on_digest(held.record.name(), known);
  if (!before.digest_follows) effects_.emplace_back(TakeDigest{held.record.name(), held.bytes});
}

void Runner::on_digest(const OutputName& name, std::uint64_t digest) {
  const auto found = held_.find(name);
  if (found == held_.end() || !found->second.record.digest_follows) return;
  OutcomeRecord& record = found->second.record;
  record.digest = digest;
  record.digest_follows = false;
  const std::uint32_t shard = shard_of(*plan_, name.task);
  const message::ShardHome& home = state_.homes[shard];
  send(home.home, message::Digested{plan_->job, shard, home.epoch, name, digest});
}

void Runner::let_go(const OutputName& name) {
  const auto found = held_.find(name);
  if (found == held_.end()) return;
  if (!is_planted(options_.planted, PlantedInRunner::released_bytes_counted))
    bytes_held_ -= found->second.bytes.size_bytes();
  held_.erase(found);
}

void Runner::bring(std::uint64_t ticket, const OutcomeRecord& record, std::vector<Life> holders,
                   Instant now) {
  if (record.value) {
    effects_.emplace_back(Brought{ticket, record.name(), record.value, std::nullopt});
    return;
  }
  if (state_.ended) {
    effects_.emplace_back(Brought{ticket, record.name(), {}, why_over(state_)});
    return;
  }
  const auto held = held_.find(record.name());
  if (held != held_.end() && held->second.bytes) {
    effects_.emplace_back(Brought{ticket, record.name(), held->second.bytes, std::nullopt});
    return;
  }
  sought_[record.name()].tickets.push_back(ticket);
  seek(record.name(), shard_of(*plan_, record.task), holders, now);
}

void Runner::seek(const OutputName& name, std::uint32_t shard, const std::vector<Life>& holders,
                  Instant now) {
  Sought& sought = sought_[name];
  if (sought.under.task == TaskId{} && !sought.under.attempt) sought.under = name;
  sought.shard = shard;
  for (const Life holder : holders) {
    const bool known =
        std::find(sought.holders.begin(), sought.holders.end(), holder) != sought.holders.end() ||
        std::find(sought.gone.begin(), sought.gone.end(), holder) != sought.gone.end();
    if (!known) sought.holders.push_back(holder);
  }
  pursue(name, sought, now);
}

/// Asks one question at a time: to a holder, else to the home.
void Runner::pursue(const OutputName& name, Sought& sought, Instant now) {
  if (sought.attempts.empty() && sought.tickets.empty() && sought.replicas.empty()) {
    sought_.erase(name);
    return;
  }
  if (sought.asked) return;
  while (state_.version > 0 && !sought.holders.empty() && !alive(sought.holders.front()))
    sought.holders.erase(sought.holders.begin());
  sought.ask_again_at = now + options_.ask_again;
  if (state_.version == 0) return;  // With the first state it is looked for.
  if (!sought.holders.empty()) {
    sought.asked = sought.holders.front();
    sought.home_asked = false;
    send(*sought.asked, message::Fetch{plan_->job, sought.under});
    return;
  }
  if (sought.home_asked) return;
  sought.home_asked = true;
  const message::ShardHome& home = state_.homes[sought.shard];
  send(home.home, message::Need{plan_->job, sought.shard, home.epoch, name, sought.gone,
                                sought.attempts.empty() && sought.replicas.empty()});
}

void Runner::arrived(const OutputName& name, const OutcomeRecord& record, Blob bytes, Instant now) {
  Sought sought = std::move(sought_.at(name));
  sought_.erase(name);
  if (!sought.replicas.empty()) {
    OutcomeRecord copy = record;
    copy.digest_follows = false;  // The maker sends the digest.
    hold(std::move(copy), bytes, false);
  }
  for (const message::Replicate& replicate : sought.replicas) {
    const message::ShardHome& home = state_.homes[replicate.shard];
    send(home.home, message::Holding{plan_->job, replicate.shard, home.epoch, name});
    keep(replicate, bytes);
  }
  for (const std::uint64_t ticket : sought.tickets) {
    effects_.emplace_back(Brought{ticket, name, bytes, std::nullopt});
  }
  for (const OutputName& waiting : sought.attempts) {
    const auto found = attempts_.find(waiting);
    if (found == attempts_.end()) continue;
    Taken& taken = found->second;
    for (std::uint32_t i = 0; i < taken.lend.wanted.size(); ++i) {
      const message::WantedInput& wanted = taken.lend.wanted[i];
      if (wanted.name != name) continue;
      Blob& into = wanted.position == detail::none ? taken.lend.attempt.restore_from
                                                   : taken.lend.attempt.blobs[wanted.position];
      into = bytes;
      taken.open.erase(i);
    }
    taken.came_bytes += bytes.size_bytes();
    if (taken.open.empty()) {
      say(waiting.task, waiting.attempt, now, [&] {
        return event::InputsCame{taken.came_bytes, now - taken.since};
      });
    }
    start_if_complete(taken, now);
  }
}

void Runner::keep(const message::Replicate& replicate, Blob bytes) {
  const OutcomeRecord& record = replicate.record;
  const bool of_task = is_checkpoint(record.attempt);
  if (!of_task && replicate.as.members == 0) return;  // An output: for as long as the processes are there.
  effects_.emplace_back(KeepSave{replicate.as, record.name(),
                                 of_task ? record.inputs : std::vector<OutputName>{}, std::move(bytes)});
}

void Runner::found(KeepSave save) {
  Saved saved{std::move(save.bytes), 0};
  saved.digest = digest_of(saved.bytes);
  hold(saved_record(save.name, std::move(save.inputs), saved), saved.bytes, false);
}

/// The output does not exist any more under this name.
void Runner::give_up(const OutputName& name, const Error& why, Instant now) {
  if (Sought& waited_for = sought_.at(name); why.code == ErrorCode::output_released) {
    // Clients get this answer. For attempts that came to wait meanwhile the output is made again.
    for (const std::uint64_t ticket : std::exchange(waited_for.tickets, {}))
      effects_.emplace_back(Brought{ticket, name, {}, why});
    waited_for.home_asked = false;
    return pursue(name, waited_for, now);
  }
  const Sought sought = std::move(sought_.at(name));
  sought_.erase(name);
  for (const std::uint64_t ticket : sought.tickets) effects_.emplace_back(Brought{ticket, name, {}, why});
  for (const OutputName& waiting : sought.attempts) {
    if (attempts_.contains(waiting)) give_back(waiting, {name}, why.what);
  }
}

/// A copy came before its digest was known, and the digest's taker may be gone: then it is taken here.
void Runner::take_missing_digests(std::uint32_t shard) {
  for (auto& [name, held] : held_) {
    OutcomeRecord& record = held.record;
    if (shard_of(*plan_, name.task) != shard || !held.bytes || record.digest != 0 || record.digest_follows)
      continue;
    if (held.bytes.size_bytes() <= options_.digest_at_once_bytes_max) {
      record.digest = digest_of(held.bytes);
    } else {
      record.digest_follows = true;
      effects_.emplace_back(TakeDigest{name, held.bytes});
    }
  }
}

/// Everything of a shard that is here, for its new home.
void Runner::report(std::uint32_t shard) {
  take_missing_digests(shard);
  message::Report report;
  report.job = plan_->job;
  report.shard = shard;
  report.epoch = state_.homes[shard].epoch;
  for (const auto& [name, held] : held_) {
    if (shard_of(*plan_, name.task) == shard) {
      report.had.push_back({held.record, static_cast<bool>(held.bytes)});
    }
  }
  for (const auto& [name, taken] : attempts_) {
    if (taken.lend.shard != shard) continue;
    report.running.push_back({name, taken.lend.attempt.inputs});
  }
  // Attempts of the old home stay accepted; its orders are refused from now on.
  auto& accepted = accepted_[shard];
  accepted.erase(accepted.begin(), accepted.lower_bound(report.epoch));
  send(state_.homes[shard].home, std::move(report));
}

void Runner::count_held(HeldSum& sum) const {
  const detail::Fragment& graph = *plan_->graph;
  for (const auto& [name, held] : held_) {
    const bool submitted = name.task.origin == 0;
    sum.add(submitted ? graph.names[graph.kind(name.task.index).name] : std::string(), held.bytes);
  }
}

void Runner::explain(const TaskSelector& wanted, Instant now, std::vector<TaskExplained>& to) const {
  for (const auto& [name, taken] : attempts_) {
    const Attempt& attempt = taken.lend.attempt;
    if (to.size() == explained_max) return;
    if (!wanted.takes(attempt.task, attempt.name) || (wanted.failed && attempt.attempt_number < 2)) continue;
    TaskExplained& one = to.emplace_back();
    one.task = attempt.task;
    one.name = attempt.name;
    one.attempt = attempt.id;
    one.failures = attempt.attempt_number - 1;
    one.state = taken.started ? RowState::ready : RowState::held;
    if (taken.started) {
      one.why = "queued for a lane";
    } else if (taken.open.empty()) {
      one.why = lease_.held(now) ? "about to start" : "waits for a lease of its process";
    } else {
      one.why = "waits for its inputs:";
      std::size_t said = 0;
      for (const std::uint32_t place : taken.open) {
        const OutputName& input = taken.lend.wanted[place].name;
        const auto sought = sought_.find(input);
        if (++said > 3) break;
        one.why += (said == 1 ? " " : ", ") + to_string(input.task);
        if (sought == sought_.end()) continue;
        if (sought->second.asked) one.why += " comes from " + to_string(sought->second.asked->process);
        if (sought->second.home_asked) one.why += " is sought";
      }
      if (taken.open.size() > 3) one.why += " and " + std::to_string(taken.open.size() - 3) + " more";
    }
  }
}

}  // namespace dag
