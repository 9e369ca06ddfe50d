// Outcomes for the cell: which rows may be told, and what of them; and what it means that they are settled.
// The order and the time are the ledger's (ledger.hpp).
//
// A row's outcome is put into a cut when its predecessors' outcomes are in this cut or an earlier one (rows
// of this shard) or are known (rows of other shards), and when the attempt that spawned it is fixed.
// Predecessors elsewhere are named.
//
// If a row elsewhere comes to another attempt than the one used here, outcomes that rest on it were not
// settled and will not be. They are withdrawn, with everything sent after them, and sent again when they are
// known anew.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::EdgeKind;

namespace {

/// Weight of a record beside its content.
constexpr std::size_t record_bytes = 128;

}  // namespace

/// Finished, and nothing to say but that.
bool Home::Impl::simple(RowIndex row) const {
  const Fact* known = fact(row);
  return word(row).outcome == Outcome::finished && !is(row, flag::wanted) &&
         (known == nullptr || (known->part == detail::none && known->conditions.empty()));
}

/// Takes the row into the cut that is being filled.
void Home::Impl::put(RowIndex row, bool growth) {
  const bool needs = is(row, flag::elsewhere) && (growth || !is(row, flag::by_order)) &&
                     !is_planted(options.planted, PlantedInHome::needs_forgotten);
  // A save may be left out at each step.
  if (is(row, flag::wanted) || (is(row, flag::presses) && (!is_save(row) || borders.is_made(row))))
    ledger.press();
  const bool record = growth || !simple(row) || (is(row, flag::known) && table.kind_of(table[row]).returns);
  const std::size_t bytes = record ? weight_of_record(row, growth) : name_bytes;
  if (!needs) return ledger.put({row, growth}, bytes, nullptr);
  const std::vector<OutputName> named = needs_elsewhere(row);
  ledger.put({row, growth}, bytes, &named);
}

/// Estimates the size of the row's entry in a cut, roughly except for large parts: a cut is one command of
/// the record, which must fit into the log.
std::size_t Home::Impl::weight_of_record(RowIndex row, bool growth) const {
  const Row& about = table[row];
  std::size_t bytes = record_bytes + about.output.load().size_bytes();
  if (options.several_processes) bytes += name_bytes * table.fragment_of(about).edge_count(about.task);
  const Fact* known = fact(row);
  if (known == nullptr) return bytes;
  if (known->part != detail::none && (growth || !is(row, flag::grown)))
    bytes += bytes_told_of(row, *table.part(known->part).fragment);
  if (known->error)
    bytes += known->error->what.size() + known->error->hint.size() + known->error->cause.size();
  return bytes + known->conditions.size() / 8;
}

/// The attempts in other shards that the row has used, and that are not settled.
std::vector<OutputName> Home::Impl::needs_elsewhere(RowIndex row) const {
  std::vector<OutputName> needs;
  each_in(row, [&](EdgeKind, RowIndex predecessor, std::uint32_t) {
    if (!table[predecessor].ghost || is(predecessor, flag::settled)) return;
    needs.push_back(output_of(predecessor));
  });
  return needs;
}

/// Called before the cut leaves: true if nobody needs more of the row than its name. A recount after this
/// home does not need an output all of whose readers here have left. So there are values at the border of the
/// sent outcomes, and a recount that must go back behind the border goes back one cut: values stay settled
/// until the next border is. A retry of the job needs the inputs of a row that did not finish. (Readers
/// elsewhere have their own copy; the cell keeps no value for them. If they are lost together with this home,
/// it is made again.)
bool Home::Impl::named_only(RowIndex row) const {
  if (!simple(row)) return false;
  if (!options.several_processes || !table.kind_of(table[row]).returns) return true;
  if (is_save(row) && !borders.is_made(row)) return false;
  // Its output cannot be made again.
  if (table.policy_of(table[row]).effects == Effects::at_most_once || varies(row)) return false;
  if (is(row, flag::known) || is(row, flag::kept)) return false;
  bool needed = false;
  each_out(row, [&](detail::EdgeKind, RowIndex successor) {
    if (successor == no_row || needed) return;
    const bool did_not_finish = has_ended(successor) && word(successor).outcome != Outcome::finished;
    needed = did_not_finish || !is(successor, flag::left);
  });
  return !needed;
}

void Home::Impl::write_plain(message::Outcomes& outcomes, RowIndex row) const {
  const OutputName name = output_of(row);
  if (name.attempt != AttemptId{options.epoch, 1}) {
    outcomes.plain.push_back(name);
    return;
  }
  message::add_task(outcomes.first_try, name.task,
                    outcomes.steps.empty() ? 0 : outcomes.steps.back().first_try);
}

/// Every successor waits for any outcome of the row, and there is one. A row that another row became has the
/// other row's successors as well; a kernel whose output another row publishes has those of that row.
bool Home::Impl::tolerates_failure(RowIndex row) const {
  bool has_successors = false, tolerated = true;
  each_out(row, [&](detail::EdgeKind kind, RowIndex successor) {
    has_successors = true;
    if (kind == detail::EdgeKind::weak) return;
    const bool published = successor != no_row && table.policy_of(table[successor]).publishes;
    tolerated = tolerated && published && tolerates_failure(successor);
  });
  if (!tolerated) return false;
  const Fact* known = fact(row);
  if (known == nullptr || known->head == no_row) return has_successors;
  return tolerates_failure(known->head);
}

void Home::Impl::write(message::Outcomes& outcomes, Ledger::Entry entry) {
  const RowIndex row = entry.row;
  const bool growth = entry.growth;
  if (!growth && named_only(row)) return write_plain(outcomes, row);
  OutcomeRecord record = record_of(row, true);
  if (!growth && record.outcome != Outcome::finished) {
    record.tries = retries.charged(row);
    record.tolerated = record.outcome == Outcome::failed && tolerates_failure(row);
  }
  const Fact* known = fact(row);
  if (known != nullptr && known->part != detail::none && (growth || !is(row, flag::grown))) {
    record.spawned = table.part(known->part).fragment;
    record.first_spawned = table.part(known->part).first_id;
    spawned_parts.told(known->part, outcomes.number);
    leave_out_literals(row, record);
    if (growth) {
      record.outcome = Outcome::none;
      record.attempt = known->grown_attempt;
      record.becomes = table[known->becomes].task;
    }
  }
  outcomes.records.push_back(std::move(record));
}

void Home::Impl::put_tried(RowIndex row) { ledger.put_tried(row, {table.id(row), retries.failed(row)}); }

void Home::Impl::put_started(RowIndex row) {
  starts.begin(row);
  if (is_planted(options.planted, PlantedInHome::start_unsettled)) return work.decide(row);
  ledger.put_started(row, table.id(row));
}

bool Home::Impl::inputs_sent(RowIndex row) const {
  bool sent = true;
  each_in(row, [&](EdgeKind, RowIndex predecessor, std::uint32_t) {
    sent = sent && (table[predecessor].ghost || is(predecessor, flag::sent));
  });
  // A row that ended by order rests on nothing. Its growth before that, if it is still to be sent, does.
  const bool grew = is(row, flag::grown) && !is(row, flag::grown_sent);
  if (!sent && (grew || !is(row, flag::by_order))) return false;
  const RowIndex parent = spawned_parts.parent_of(table[row].part);
  if (parent != no_row && !is(parent, flag::grown_sent | flag::sent)) return false;
  if (!is_call(row) || left_no_trace(row)) return true;
  // The state that it ran on is that after the last call before it that ran, which another fragment may have
  // added.
  const CallOrder& order = calls.actor_of(row).calls;
  std::size_t place = order.place_of(row);
  while (place > 0 && left_no_trace(order[place - 1])) --place;
  return place == 0 || is(order[place - 1], flag::sent);
}

/// A call that ended without having run: it rests on no state, and changed none.
bool Home::Impl::left_no_trace(RowIndex call) const {
  const Outcome outcome = word(call).outcome;
  return outcome == Outcome::skipped || outcome == Outcome::cancelled;
}

void Home::Impl::try_send(RowIndex row) {
  if (is(row, flag::sent | flag::vanished)) return;
  const bool ended_now = is(row, flag::noted);
  if (!ended_now && (!is(row, flag::grown) || is(row, flag::grown_sent))) return;
  const bool safe = !ended_now || (digest_taken(row) && copied(row));
  if (!inputs_sent(row)) return park(row);
  unpark(row);
  if (is(row, flag::grown) && !is(row, flag::grown_sent)) {
    set(row, flag::grown_sent);
    put(row, true);
    wake_parked_by(row);
  }
  if (!ended_now) return;
  const Fact* known = fact(row);
  // A row that ended by order did not end as the task it became, which may run for long.
  const bool ends_as_another = known != nullptr && known->becomes != no_row && !is(row, flag::by_order);
  if (ends_as_another && !is(known->becomes, flag::sent | flag::vanished)) return park(row);
  if (!safe) return park(row);
  set(row, flag::sent);
  put(row, false);
  wake_parked_by(row);
}

void Home::Impl::park(RowIndex row) {
  if (is(row, flag::parked)) return;
  set(row, flag::parked);
  ++parked_rows;
}
void Home::Impl::unpark(RowIndex row) {
  if (!is(row, flag::parked)) return;
  unset(row, flag::parked);
  --parked_rows;
}

void Home::Impl::wake_parked_by(RowIndex row) {
  if (parked_rows == 0) return;
  const auto wake = [&](RowIndex other) {
    if (other != no_row && is(other, flag::parked)) work.send(other);
  };
  each_out(row, [&](detail::EdgeKind, RowIndex successor) { wake(successor); });
  if (const Fact* known = fact(row)) {
    wake(known->head);
    if (known->part != detail::none) {
      const Part& part = table.part(known->part);
      for (RowIndex child = part.rows_begin; child < part.rows_end; ++child) wake(child);
    }
  }
  if (is_call(row)) {
    const CallOrder& order = calls.actor_of(row).calls;
    std::size_t place = order.place_of(row);
    while (++place < order.size()) {
      wake(order[place]);
      if (!left_no_trace(order[place])) break;
    }
  }
}

/// When the next cut leaves; nothing when there is none, or one is under way.
std::optional<Instant> Home::Impl::leaves_at() const {
  if (recounting() || over) return std::nullopt;
  return ledger.leaves_at(now, borders.any_awaits() || !spawned_parts.has_credit());
}

void Home::Impl::flush() {
  if (!recounting() && !over) ledger.greet();
  if (leaves_at() != now) return;
  Ledger::Leaving cut = ledger.leave(now);
  message::Outcomes outcomes;
  outcomes.job = plan->job;
  outcomes.shard = options.shard;
  outcomes.epoch = options.epoch;
  outcomes.number = cut.number;
  outcomes.first_step = cut.first_step;
  for (std::size_t i = 0; i < cut.steps.size(); ++i) {
    const Ledger::Step& step = ledger.step(cut.first_step + i);
    for (const Ledger::Entry entry : step.entries) set(entry.row, flag::left);
    for (const RowWord finished : step.finished) left_rows.add(finished);
  }
  for (std::size_t i = 0; i < cut.steps.size(); ++i) {
    const Ledger::Step& step = ledger.step(cut.first_step + i);
    for (const RowWord finished : step.finished) write(outcomes, finished);
    each_reading_ahead(step.entries, [&](Ledger::Entry entry) { write(outcomes, entry); });
    const auto size = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    outcomes.steps.push_back({size(outcomes.first_try), size(outcomes.plain), size(outcomes.records),
                              cut.steps[i].needs_first, cut.steps[i].needs, cut.steps[i].rows});
  }
  outcomes.needs_first = std::move(cut.needs_first);
  outcomes.needs = std::move(cut.needs);
  outcomes.freed = std::move(cut.freed);
  outcomes.tried = std::move(cut.tried);
  outcomes.started = std::move(cut.started);
  outcomes.rows_open = ledger.rows_open();
  if (state.replicas > 1) ledger.keep(outcomes);
  send(state.cell, std::move(outcomes));
}

/// The cell has another leader, which may lack reports to the former one that were not settled.
void Home::Impl::say_again() {
  if (is_planted(options.planted, PlantedInHome::not_said_again)) return;
  if (const message::Outcomes* last = ledger.unanswered()) send(state.cell, *last);
  if (failure) send(state.cell, message::JobFailed{plan->job, options.shard, options.epoch, *failure});
}

/// A row of another shard came to another attempt than the one that rows here have used.
void Home::Impl::withdraw(RowIndex changed) {
  std::set<RowIndex> users;
  each_out(changed, [&](detail::EdgeKind, RowIndex successor) {
    if (successor == no_row || is(successor, flag::settled)) return;
    // A row that ended by order rests on nothing, but its growth may have been sent before.
    const bool growing = is(successor, flag::grown_sent) && !is(successor, flag::grown_settled);
    if (is(successor, flag::by_order) && !growing) return;
    if (is(successor, flag::sent | flag::grown_sent)) users.insert(successor);
  });
  if (users.empty() || is_planted(options.planted, PlantedInHome::not_withdrawn)) return;
  for (const Ledger::Entry entry : ledger.withdraw(users)) {
    unset(entry.row, flag::left | (entry.growth ? flag::grown_sent : flag::sent));
    work.send(entry.row);
  }
}

void Home::Impl::on(Life, const message::Settled& message) {
  ledger.add(message);
  while (const auto next = ledger.take_next()) {
    spawned_parts.recorded(ledger.settled());
    ledger.steps_settled(next->steps, [this](const Ledger::Step& step) {
      for (const RowWord finished : step.finished) settle(finished);
      each_reading_ahead(step.entries, [this](Ledger::Entry entry) { row_settled(entry.row); });
    });
    for (const RowIndex row : ledger.take_settled()) work.decide(row);
    for (const OutcomeRecord& record : next->predecessors) ghost_news(record, nullptr, true);
  }
}

void Home::Impl::row_settled(RowIndex row) {
  if ((notes[row].flags & (flag::lean | flag::known)) == flag::lean) {
    lean_settled(row);
  } else {
    own_settled(row);
  }
}

/// Nothing waits for the row, so it only lets go of its inputs, and of its output if no task reads
/// it.
void Home::Impl::lean_settled(RowIndex row) {
  DAG_CHECK(is(row, flag::sent) && !is(row, flag::settled));
  set(row, flag::settled);
  ++counts.settled;
  release_inputs(row);
  maybe_let_go(row);
}

/// For a task whose attempt was fixed before it ended it is called twice: as it grew, and as it ended.
void Home::Impl::own_settled(RowIndex row) {
  const auto wake_children = [&](const Fact& known) {
    if (known.part == detail::none) return;
    const Part& part = table.part(known.part);
    for (RowIndex child = part.rows_begin; child < part.rows_end; ++child) {
      if (is_held_for(child, HeldFor::settled_inputs)) work.decide(child);
    }
  };
  const auto known = facts.find(row);
  if (is(row, flag::grown) && !is(row, flag::grown_settled)) {
    set(row, flag::grown_settled);
    wake_children(known->second);
    outputs.release_keeper(row, {table.id(row), known->second.grown_attempt});
    // The attempt is fixed for good, so it will not read its inputs again, however long the task that it
    // became runs.
    if (!is_call(row)) release_inputs(row);
    return;
  }
  DAG_CHECK(is(row, flag::sent) && !is(row, flag::settled));
  set(row, flag::settled);
  ++counts.settled;
  if (known != facts.end()) wake_children(known->second);
  outputs.record_settled(row, output_of(row));
  each_out(row, [&](detail::EdgeKind, RowIndex successor) {
    if (successor != no_row && is_held_for(successor, HeldFor::settled_inputs)) work.decide(successor);
  });
  const ActorCalls::Actor* actor = is_call(row) ? &calls.actor_of(row) : nullptr;
  if (actor != nullptr && actor->can_save && options.several_processes) {
    set(row, flag::retained);
    borders.retain(row);
    if (const RowIndex oldest = borders.take_retained(row); oldest != no_row) {
      unset(oldest, flag::retained);
      release_inputs(oldest);
    }
  } else if (actor != nullptr || !is(row, flag::grown)) {
    release_inputs(row);
  }
  if (actor != nullptr) saves_changed(actor->group);
  checkpoints.release_all(row);
  maybe_let_go(row);
}

void Home::Impl::on(Life, const message::Keep& keep) {
  for (const TaskId task : keep.tasks) {
    const RowIndex row = table.find(task);
    if (row == no_row || table[row].ghost || is(row, flag::let_go)) continue;
    set(row, flag::kept | flag::wanted);
    ledger.press();
  }
}

void Home::Impl::on(Life, const message::Cancel& cancel) {
  for (const TaskId task : cancel.tasks) {
    const RowIndex row = table.find(task);
    if (row == no_row || table[row].ghost || has_ended(row)) continue;
    close(row, Outcome::cancelled, Error{ErrorCode::task_cancelled, describe(row) + " was cancelled"},
          flag::by_order);
  }
}

}  // namespace dag
