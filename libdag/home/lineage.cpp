// Records, digests and copies of outputs, answers to questions for them, and the making of lost ones.
//
// A lost output is made again when a process asks for it: the row stays ended, a new attempt runs under a
// number of its own, and its output stands for the settled one when the digests agree. Inputs may be lost
// too; the runner of the attempt asks for them, and that makes them again in turn. This ends because lineage
// is finite and without cycles, each run is retried a limited number of times, and a remade output stays for
// a while after it was last asked for.
//
// The digest of a large output is taken later: readers have the output at once, and only the record waits. It
// comes from the runner that has the bytes, or never, if that dies first; then the output is made again when
// it is needed, and the new value counts.
//
// Not noticed: a kernel gives another value when another home than the first has its output made again, if no
// task needed the output when the first home died. The record has only its name.

#include <algorithm>

#include "libdag/home/copies.hpp"
#include "libdag/home/home_impl.hpp"

namespace dag {

/// The processes that have the bytes of this row's own name. Bytes in the row's slot are offered by the
/// runner here from now on.
std::vector<Life> Home::Impl::holders_of(RowIndex row) {
  if (Blob blob = table[row].output.load(); blob && !is(row, flag::published)) {
    set(row, flag::published);
    OutcomeRecord record = record_of(row, false);
    record.spawned = nullptr;
    record.digest_follows = record.digest == 0 && needs_digest(row, blob);
    effects.emplace_back(PublishOutput{std::move(record), std::move(blob)});
  }
  return outputs.holders(row);
}

/// The outputs that the row's arguments are made of, absent ones included.
std::vector<OutputName> Home::Impl::inputs_of(RowIndex row) const {
  std::vector<OutputName> names;
  each_input(row, [&](RowIndex input) { names.push_back(output_of(input)); });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

OutcomeRecord Home::Impl::record_of(RowIndex row, bool for_cell) {
  OutcomeRecord record;
  const Row& about = table[row];
  record.task = table.id(row);
  record.attempt = attempt_of(row);
  record.outcome = word(row).outcome;
  Blob blob = about.output.load();
  const auto found = facts.find(row);
  if (found != facts.end()) {
    Fact& known = found->second;
    record.conditions = known.conditions;
    record.error = known.error;
    record.has_output = known.has_output || static_cast<bool>(blob);
    record.size_bytes = blob ? blob.size_bytes() : known.size_bytes;
    record.digest = known.digest;
    // The value may have been taken since this row became another one; at the latest when that row is
    // sent.
    if (record.digest == 0 && known.owner != no_row) {
      if (const Fact* owned = fact(known.owner)) record.digest = owned->digest;
    }
    record.grew = known.part != detail::none || known.grew;
  } else {
    record.has_output = static_cast<bool>(blob);
    record.size_bytes = blob.size_bytes();
  }
  // Holders of the record must be able to tell without this home whether it still counts.
  if (options.several_processes && !about.ghost) record.inputs = inputs_of(row);
  if (record.digest == 0 && options.several_processes && blob &&
      blob.size_bytes() <= options.digest_at_once_bytes_max) {
    record.digest = digest_of(blob);
    Fact& known = fact_of(row);
    known.attempt = record.attempt;
    known.digest = record.digest;
    known.has_output = true;
    known.size_bytes = record.size_bytes;
  }
  const bool small = blob && blob.size_bytes() <= plan->inline_bytes_max && options.several_processes;
  // With replicas it would travel to them.
  const bool asked_here =
      blob && for_cell && is(row, flag::wanted) && state.cell == options.self && state.replicas == 1;
  if (small || asked_here) record.value = std::move(blob);
  return record;
}

// ---- Digests

/// True if the digest of this output, which is in the row's slot, is to be taken later by the runner.
bool Home::Impl::needs_digest(RowIndex row, const Blob& output) const {
  if (!options.several_processes && !is_call(row)) return false;
  return !table[row].ghost && output.size_bytes() > options.digest_at_once_bytes_max;
}

/// For a row that ended: false while the digest of its output is being taken. Starts that if needed. The row
/// is looked at again when the digest is there.
bool Home::Impl::digest_taken(RowIndex row) {
  if (digests.awaits(row)) return false;
  const Fact* known = fact(row);
  if (known != nullptr && (known->digest != 0 || known->owner != no_row)) return true;
  if (!needs_digest(row, table[row].output.load())) return true;
  holders_of(row);
  await_digest(row, options.self);
  return !digests.awaits(row);
}

void Home::Impl::await_digest(RowIndex row, Life from) {
  if (const auto early = digests.await(row, output_of(row), from)) fact_of(row).digest = *early;
}

void Home::Impl::on(Life from, const message::Digested& message) {
  const RowIndex row = table.find(message.name.task);
  if (row == no_row || table[row].ghost || is(row, flag::vanished | flag::settled)) return;
  if (!has_ended(row) || attempt_of(row) != message.name.attempt) {
    digests.came_early(message.name, message.digest);
    return;
  }
  Fact& known = fact_of(row);
  if (!known.attempt) {
    known.attempt = message.name.attempt;
    const Blob blob = table[row].output.load();
    known.has_output = static_cast<bool>(blob);
    known.size_bytes = blob.size_bytes();
  }
  if (known.digest == 0) known.digest = message.digest;
  if (digests.came(row, from)) work.send(row);
}

// ---- Copies of outputs that cannot be made again

/// For a row that ended: false while its output, if it may vary, has no second copy. Has a copy made if
/// needed. The row is looked at again when the copy is there.
bool Home::Impl::copied(RowIndex row) {
  if (!options.several_processes || !varies(row) || word(row).outcome != Outcome::finished) return true;
  const Blob blob = table[row].output.load();
  const Fact* known = fact(row);
  const std::uint64_t size_bytes = blob ? blob.size_bytes() : known != nullptr ? known->size_bytes : 0;
  // A small output is in the record, and a row that became another one has no output itself.
  if (size_bytes <= plan->inline_bytes_max || owner_of(row) != row) return true;
  const std::vector<Life> holders = holders_of(row);
  const std::vector<Life> lacking = lacks_second_node(state, options.self, holders);
  if (lacking.empty() || holders.empty()) {
    outputs.await_copy(row, std::nullopt);
    return true;
  }
  if (!outputs.await_copy(row, lacking.front())) return false;
  OutcomeRecord record = record_of(row, false);
  record.spawned = nullptr;
  send(lacking.front(),
       message::Replicate{plan->job, options.shard, options.epoch, std::move(record), holders, {}});
  return false;
}

/// Processes have gone, and with them copies, or the makers of copies.
void Home::Impl::copies_lost() {
  for (const RowIndex row : outputs.rows_with_copies()) {
    if (has_ended(row) && is(row, flag::noted)) copy_lost(row);
  }
}

/// For a row that ended and needs copies. It may have enough of them all the same.
void Home::Impl::copy_lost(RowIndex row) {
  if (copied(row) && !is(row, flag::sent)) work.send(row);
}

// ---- Questions for outputs

void Home::Impl::on(Life from, const message::Need& need) {
  if (is_checkpoint(need.name.attempt)) return answer_checkpoint(from, need);
  const RowIndex row = table.find(need.name.task);
  if (row == no_row || table[row].ghost) return;
  const RowIndex owner = owner_of(row);
  // An asker for an older attempt's output may have this one's.
  if (need.name.attempt != attempt_of(row)) return answer({from, need.name, need.for_client}, row);
  bool struck = false;
  for (const Life gone : need.gone) {
    struck = outputs.drop_holder(owner, gone) || struck;
    // Our own runner has lost sight of the value in the slot: offer it again.
    if (gone == options.self) unset(owner, flag::published);
  }
  if (struck && has_ended(owner) && is(owner, flag::noted)) {
    if (varies(owner)) copy_lost(owner);
    if (is_save(owner) && borders.is_made(owner) && !is(owner, flag::let_go)) replicate_save(owner);
  }
  answer({from, need.name, need.for_client}, row);
}

message::Located Home::Impl::answer_about(const OutputName& asked_name) const {
  message::Located located{plan->job, options.shard, options.epoch, {}, {}, {}, asked_name};
  located.record.task = asked_name.task;
  located.record.attempt = asked_name.attempt;
  return located;
}

void Home::Impl::answer(const Asker& asker, RowIndex row) {
  const OutputName& asked_name = asker.asked;
  const bool vanished = is(row, flag::vanished);
  if (!vanished && (!has_ended(row) || !is(row, flag::noted))) {
    askers.add(row, asker);
    return;
  }
  const RowIndex owner = owner_of(row);
  message::Located located = answer_about(asked_name);
  if (vanished) {
    located.lost = Error{ErrorCode::output_lost, "another attempt of what spawned the task counts"};
    return send(asker.life, std::move(located));
  }
  if (word(row).outcome == Outcome::finished) {
    if (outputs.available(owner)) {
      if (is(owner, flag::let_go)) staying.asked_for(owner, now);
      located.holders = holders_of(owner);
    } else if (is_save(owner) && !recounting()) {
      // No task needs this state itself: the process that was to get a copy goes without, and an object comes
      // back from another one.
      located.lost = Error{ErrorCode::output_lost, "what the job actor had saved is lost"};
    } else if (asker.for_client && options.released_bytes_max && is(owner, flag::let_go)) {
      located.lost = released(row);
    } else {
      askers.add(owner, asker);
      return remake(owner);
    }
  }
  located.record = record_of(owner, false);
  // Another attempt than the one asked for: the asker must not mix them up.
  if (attempt_of(row) != asked_name.attempt) located.record.task = {}, located.holders.clear();
  located.record.spawned = nullptr;
  send(asker.life, std::move(located));
}

void Home::Impl::answer_askers(RowIndex row) {
  for (const Asker& asker : askers.take(row)) {
    if (alive(asker.life)) answer(asker, table.find(asker.asked.task));
  }
}

// ---- Making again

void Home::Impl::remake(RowIndex row) {
  if (over || recounting() || again.contains(row)) return;
  say(row, [] { return event::OutputLost{}; });
  if (table.policy_of(table[row]).effects == Effects::at_most_once) {
    return fail_job({ErrorCode::output_lost,
                     "the output of " + describe(row) + " is gone, and the task may run only once"});
  }
  if (is_call(row)) return remake_call(row);
  again[row] = {};
  run_again(row);
}

void Home::Impl::run_again(RowIndex row) {
  Again& run = again.at(row);
  run.out.reset();
  if (is_exclusive(row) && waits_for_leases(row)) return;
  PlacedAttempt placed = place(row);
  run.out = OutAttempt{placed.at, uncounted(), 0, false};
  if (placed.why) say(table.id(row), run.out->id, [&] { return std::move(*placed.why); });
  dispatch(row, placed.at, run.out->id, true, {}, nullptr);
}

void Home::Impl::again_ended(RowIndex row, OutcomeRecord& record, Life from) {
  if (is_call(row)) return call_again_ended(row, record, from);
  Again& run = again.at(row);
  run.out.reset();
  if (record.outcome != Outcome::finished) {
    release(from, {record.task, attempt_of(row)});
    if (++run.failures > table.policy_of(table[row]).retry.attempts + 3) {
      return fail_job(
          {ErrorCode::output_lost, "the output of " + describe(row) + " is gone and cannot be made again: " +
                                       (record.error ? record.error->what : "the attempt was stopped")});
    }
    return run_again(row);
  }
  again.erase(row);
  output_is_there_again(row, record, from);
}

/// The output of an ended row was made again. Another value than the settled one is taken when nobody was
/// told of the first one as final; else the job cannot go on.
void Home::Impl::output_is_there_again(RowIndex row, OutcomeRecord& record, Life from) {
  Fact& known = fact_of(row);
  known.attempt = attempt_of(row);
  if (record.digest == 0 && record.value) record.digest = digest_of(record.value);
  if (known.digest == 0) known.digest = digests.of_let_go(row);
  // The first digest is unknown, but no process was told that the first output is final either.
  const bool unknown = digests.forget(row);
  if (unknown) work.send(row);
  const bool same = !unknown && (known.digest == 0 || known.digest == record.digest);
  if (!same && is(row, flag::sent)) {
    return fail_job({ErrorCode::not_reproducible,
                     describe(row) + " gave another value when it was run again (attempts " +
                         to_string(known.attempt) + " and " + to_string(record.attempt) + ")",
                     varies(row)
                         ? "it is declared varying, and all copies of its output were lost: more nodes, or "
                           "restarts that come one after the other, keep one"
                         : "its kernel is declared pure, so it must give the same value for the same "
                           "inputs; one that cannot says .varying(), and its output is kept"});
  }
  known.digest = record.digest;
  known.size_bytes = record.size_bytes;
  known.has_output = record.has_output;
  outputs.set_holders(row, {});
  if (record.value) {
    table[row].output.store(record.value);
    unset(row, flag::published);
    if (from != options.self) release(from, {record.task, known.attempt});
  } else {
    outputs.add_holder(row, from);
  }
  if (is(row, flag::let_go)) staying.asked_for(row, now);
  if (!same) {
    known.attempt = record.attempt;
    known.conditions = record.conditions;
    for (const std::uint32_t shard : foreign_shards(row)) tell_shard(row, shard);
    reset_from({row});
  }
  answer_askers(row);
}

}  // namespace dag
