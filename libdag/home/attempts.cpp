// Handing attempts out, and their ends.

#include <algorithm>

#include "libdag/graph/family.hpp"
#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::CallKind;

/// A held row that a lane can run without anything being said to it.
bool Home::Impl::bare(RowIndex row) const {
  if (plan->representation == Representation::supervised || is_call(row)) return false;
  const Policy& policy = table.policy_of(table[row]);
  if (policy.timeout || policy.checkpoint || policy.group || policy.effects >= Effects::exclusive ||
      policy.needs != Needs{})
    return false;
  // The kernel is told how often it was tried, and one that may take its process down runs alone.
  if (retries.any(row) || crashes.is_dangerous(row)) return false;
  const Fact* known = fact(row);
  return known == nullptr || known->inherited.empty();
}

/// A row that nobody has is to run there.
AttemptId Home::Impl::issue(RowIndex row, Life to) {
  const Next lent = table.apply(row, LentOut{});
  DAG_CHECK(lent.what == Do::run);
  const AttemptId id{options.epoch, lent.word.attempt};
  dispatched[row] = {to, id, lent.word.attempt, false};
  return id;
}

void Home::Impl::start(RowIndex row, std::optional<Life> wanted_at) {
  say(row, [] { return event::Ready{}; });
  PlacedAttempt placed = wanted_at ? PlacedAttempt{*wanted_at} : place(row);
  const Life to = placed.at;
  if (to == options.self && !wanted_at && bare(row) && inputs_here(row)) {
    if (placed.why) say(row, [&] { return std::move(*placed.why); });
    if (table.apply(row, Released{}).what == Do::make_ready) {
      effects.emplace_back(MakeReady{row, table.policy_of(table[row]).priority});
    }
    return;
  }
  const AttemptId id = issue(row, to);
  if (placed.why) say(table.id(row), id, [&] { return std::move(*placed.why); });
  AttemptId generation;
  if (is_call(row)) {
    const bool creates = table.kind_of(table[row]).call == CallKind::create;
    generation = objects.begin_call(row, creates ? uncounted() : AttemptId{});
  }
  dispatch(row, to, id, false, generation, nullptr);
}

/// Completes the attempt and sends it to its process. Inputs without a holder are named all the same: the
/// runner asks for them, and that makes them again.
void Home::Impl::dispatch(RowIndex row, Life to, AttemptId id, bool repeats, AttemptId generation,
                          const OutcomeRecord* restore) {
  const Row& about = table[row];
  const Part& part = table.part(about.part);
  const detail::Fragment& fragment = *part.fragment;
  const detail::TaskKind& kind = fragment.kind(about.task);
  const Policy& policy = fragment.policies[kind.policy];
  const bool local = to == options.self;

  message::Lend lend;
  lend.job = plan->job;
  lend.shard = options.shard;
  lend.epoch = options.epoch;
  Attempt& attempt = lend.attempt;
  attempt.job = plan->job;
  attempt.task = table.id(row);
  attempt.id = id;
  attempt.attempt_number = retries.charged(row) + 1;
  attempt.name = fragment.names[kind.name];
  attempt.code = fragment.codes[kind.code];
  attempt.returns = kind.returns;
  attempt.timeout = policy.timeout;
  attempt.exclusive = policy.effects == Effects::exclusive;
  attempt.may_overlap = policy.effects == Effects::pure;
  attempt.last_try = attempt.attempt_number >= retry_of(row).attempts;
  attempt.stages = policy.effects == Effects::staged;
  attempt.alone = crashes.runs_alone(row);
  attempt.call = kind.call;
  attempt.actor = kind.actor;
  attempt.generation = generation;
  if (repeats) attempt.stands_for = attempt_of(row);
  attempt.predicates = table.predicates_of(about);
  if (const Fact* known = fact(row)) {
    attempt.predicates.insert(attempt.predicates.end(), known->inherited.begin(), known->inherited.end());
  }
  if (kind.call == CallKind::create) {
    attempt.actor_code = fragment.actors[kind.actor];
    attempt.actor_code.name = 0;
  }

  // `where` among the blobs; restored states have no place there.
  const auto give = [&](RowIndex input, std::uint32_t where, Blob& into) {
    const RowIndex owner = owner_of(input);
    Blob blob = table[input].output.load();
    if (!blob && owner != input) blob = table[owner].output.load();
    if (blob && (local || blob.size_bytes() <= plan->inline_bytes_max)) {
      into = std::move(blob);
      return;
    }
    lend.wanted.push_back({where, output_of(owner), shard_of(*plan, table.id(owner)), holders_of(owner)});
  };

  if (restore == nullptr) {
    const auto in_edges = fragment.in_edges(about.task);
    for (const detail::Argument& argument : fragment.arguments_of(about.task)) {
      attempt.counts.push_back(argument.count);
      if (!is_input(argument.kind)) {
        attempt.blobs.push_back(argument_value(fragment, about.task, argument));
        continue;
      }
      for (std::uint32_t k = 0; k < argument.count; ++k) {
        const RowIndex input = part.row_of(in_edges[argument.first + k].task());
        attempt.blobs.emplace_back();
        // Absent ones are named too: it matters that they were absent.
        attempt.inputs.push_back(output_of(input));
        if (word(input).outcome != Outcome::finished) continue;
        give(input, static_cast<std::uint32_t>(attempt.blobs.size() - 1), attempt.blobs.back());
      }
    }
    std::sort(attempt.inputs.begin(), attempt.inputs.end());
    attempt.inputs.erase(std::unique(attempt.inputs.begin(), attempt.inputs.end()), attempt.inputs.end());
  } else {
    give(table.find(restore->task), detail::none, attempt.restore_from);
  }

  const auto handed = dispatched.find(row);
  if (policy.checkpoint && kind.call == CallKind::ordinary && !repeats && handed != dispatched.end())
    give_checkpoint(row, policy, handed->second.word_attempt, lend);

  lend.stays = repeats || !may_go_elsewhere(row);
  ++counts.attempts;
  say(attempt.task, id, [&] { return event::Lent{to.process}; });
  // Objects are made through the runner, also here: it knows the newest creation of an actor. And it holds
  // the states that attempts save, and the lease.
  const bool direct = local && lend.wanted.empty() && kind.call != CallKind::create && !attempt.checkpoints &&
                      !attempt.exclusive;
  if (const auto out = dispatched.find(row); out != dispatched.end() && out->second.id == id) {
    out->second.direct = direct;
  }
  if (const auto found = again.find(row);
      found != again.end() && found->second.out && found->second.out->id == id) {
    found->second.out->direct = direct;
  }
  if (direct) {
    effects.emplace_back(StartAttempt{std::move(attempt), policy.priority});
  } else {
    send(to, std::move(lend));
  }
}

void Home::Impl::stop_dispatched(RowIndex row, const OutAttempt& out) {
  if (out.direct) {
    effects.emplace_back(StopAttempt{table.id(row), out.id});
  } else if (alive(out.runner)) {
    send(out.runner, message::Stop{plan->job, options.shard, options.epoch, {table.id(row), out.id}});
  }
}

/// The end of an attempt that was dispatched, from wherever it ran.
void Home::Impl::attempt_ended(Life from, OutcomeRecord record, Duration ran) {
  const RowIndex row = table.find(record.task);
  const bool ours = row != no_row && !table[row].ghost;
  const bool of_earlier_home = record.attempt.epoch != options.epoch;
  if (ours) {
    stopped_is_gone(row, from, record.attempt);
    if (of_earlier_home) earlier.came_back(record.name());
    const auto out = dispatched.find(row);
    const bool any = is_planted(options.planted, PlantedInHome::given_up_counts);
    if (out != dispatched.end() &&
        (any || (out->second.id == record.attempt && out->second.runner == from))) {
      const std::uint32_t word_attempt = out->second.word_attempt;
      dispatched.erase(out);
      return row_attempt_ended(row, record, from, word_attempt, ran);
    }
    const auto found = again.find(row);
    if (found != again.end() && found->second.out && found->second.out->id == record.attempt &&
        found->second.out->runner == from) {
      return again_ended(row, record, from);
    }
    // A repetition: if the attempt counts already, its output is released in due time.
    const Fact* known = fact(row);
    if (known != nullptr && known->attempt == record.attempt && !is(row, flag::let_go)) return;
    if (known != nullptr && known->grown_attempt == record.attempt && !is(row, flag::grown_settled)) return;
    if (of_earlier_home && offer(row, record, record.has_output && !record.value, from)) return;
  }
  release(from, record.name());
}

void Home::Impl::row_attempt_ended(RowIndex row, OutcomeRecord& record, Life from, std::uint32_t word_attempt,
                                   std::optional<Duration> known_run) {
  const Duration ran = known_run.value_or(Duration{0});
  const bool returned = record.outcome == Outcome::finished;
  if (returned && record.spawned) {
    auto why = spawns_too_much(row, *record.spawned);
    if (!why) why = spawns_the_impossible(*record.spawned);
    if (why) {
      record.outcome = Outcome::failed;
      record.error = std::move(why);
    }
  }
  if (record.outcome != Outcome::finished) {
    // The runner keeps returned outputs, also here.
    if (from != options.self || returned) release(from, record.name());
    Error why = record.error.value_or(Error{ErrorCode::task_failed, "the attempt was stopped"});
    say(record.task, record.attempt, [&] { return event::Ended{record.outcome, ran, why.what}; });
    return attempt_failed(row, word_attempt, record.attempt, why);
  }
  if (known_run) observe(row, ran);
  const bool here = from == options.self;
  Fact& known = fact_of(row);
  known.attempt = record.attempt;
  known.digest = record.digest;
  known.size_bytes = record.size_bytes;
  known.has_output = record.has_output;
  known.conditions = record.conditions;
  known.error.reset();
  outputs.set_holders(row, {});
  if (record.has_output && !record.value) outputs.add_holder(row, from);
  if (!here || !record.value) outputs.set_keeper(row, from);
  if (is_call(row)) objects.returned(row);
  if (record.becomes != detail::none) {
    grow(row, record, {});
    if (known.becomes == no_row) return;  // No more room for spawned tasks.
    return say(record.task, record.attempt, [&] { return event::Became{table.id(known.becomes), ran}; });
  }
  if (record.spawned) grow(row, record, {});
  if (record.digest_follows) await_digest(row, from);
  if (is_call(row) && known.has_output && known.digest == 0 && record.value &&
      !needs_digest(row, record.value)) {
    known.digest = digest_of(record.value);
  }
  if (record.value) table[row].output.store(std::move(record.value));
  const Next ended = table.apply(row, AttemptEnded{word_attempt, Outcome::finished});
  DAG_CHECK(ended.what == Do::tell);
  say(row, [&] { return event::Ended{Outcome::finished, ran, {}}; });
  note(row, false);
}

void Home::Impl::on(Life from, const message::Ended& ended) { attempt_ended(from, ended.record, ended.ran); }

void Home::Impl::on(Life from, const message::Return& back) {
  const RowIndex row = table.find(back.name.task);
  if (row == no_row || table[row].ghost) return;
  stopped_is_gone(row, from, back.name.attempt);
  for (const OutputName& missing : back.missing) {
    if (is_checkpoint(missing.attempt)) checkpoints.forget(missing);
    const RowIndex input = table.find(missing.task);
    if (input == no_row || attempt_of(input) != missing.attempt) continue;
    outputs.drop_holder(input, from);
  }
  if (back.name.attempt.epoch != options.epoch) earlier.came_back(back.name);
  const auto out = dispatched.find(row);
  if (out != dispatched.end() && out->second.id == back.name.attempt && out->second.runner == from) {
    if (back.thief && !over) {
      lend_again(row, from, *back.thief);
      return;
    }
    if (is_call(row)) call_lost(row, back.why);
    return take_back(row, event::Returned{back.why});
  }
  const auto found = again.find(row);
  if (found == again.end() || !found->second.out || found->second.out->id != back.name.attempt ||
      found->second.out->runner != from) {
    return;
  }
  found->second.out.reset();
  if (!is_call(row)) return run_again(row);
  again.erase(found);
  call_lost(row, back.why);
}

}  // namespace dag
