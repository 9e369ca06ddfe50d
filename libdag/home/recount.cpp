// After a loss of its home a shard is counted again from settled outcomes and reports of the survivors.
//
// A new home builds the rows as for a new job, ends those that are settled, and keeps all others closed (by
// their extra edge) until every life that was alive at its appointment has reported or died. Then rows start
// as ever, except that an attempt which a report offers, and whose inputs are the ones that count now, is
// taken instead of a new one. So no edge is satisfied twice: the count begins at zero, and nothing of the old
// count exists any more.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {

void Home::Impl::recover(const message::Assign& assign, const message::JobState& new_state) {
  state = new_state;
  places = message::lives_that_run(state);
  starts.recounted(state.lives, now + reissue_after(options.lease));
  const bool nobody = is_planted(options.planted, PlantedInHome::no_recount);
  recount.emplace(nobody ? std::set<Life>{} : std::set<Life>(assign.asked.begin(), assign.asked.end()));
  recount->lives_left(state.lives);  // The state may be newer than the assignment.
  add_graph();
  add_actors();
  add_groups();

  // Spawned parts in the order in which their ids were given, which is that of their adding: calls of job
  // actors get the places they had.
  std::vector<const OutcomeRecord*> growths;
  for (const OutcomeRecord& record : assign.settled) {
    if (record.spawned && shard_of(*plan, record.task) == options.shard) growths.push_back(&record);
  }
  std::sort(growths.begin(), growths.end(), [](const OutcomeRecord* a, const OutcomeRecord* b) {
    return a->first_spawned < b->first_spawned;
  });
  for (const OutcomeRecord* growth : growths) {
    const RowIndex row = table.find(growth->task);
    DAG_CHECK(row != no_row);
    OutcomeRecord record = *growth;
    grow(row, record, record.first_spawned);
    table.apply(row, Watched{});
    if (record.becomes != detail::none) set(row, flag::grown_sent | flag::grown_settled);
  }

  std::vector<RowIndex> own;
  const auto end_settled = [&](RowIndex row, Outcome outcome) {
    set(row, flag::sent | flag::settled | flag::left);
    ledger.row_recovered();
    ++counts.settled;
    const Next closed = table.apply(row, Closed{outcome});
    DAG_CHECK(closed.what == Do::tell);
    own.push_back(row);
    note(row, false);
  };
  for (const message::FirstTry& some : assign.first_try) {
    for (const message::TaskBits& bits : some.tasks) {
      bits.each([&](TaskId task) {
        const RowIndex row = table.find(task);
        DAG_CHECK(row != no_row && !is(row, flag::noted));
        const bool has_output = table.kind_of(table[row]).returns;
        if (table[row].ghost) {
          OutcomeRecord record;
          record.task = task;
          record.attempt = {some.epoch, 1};
          record.outcome = Outcome::finished;
          record.has_output = has_output;
          return ghost_news(record, nullptr, true);
        }
        Fact& known = fact_of(row);
        known.attempt = {some.epoch, 1};
        known.has_output = has_output;
        end_settled(row, Outcome::finished);
      });
    }
  }
  for (const OutcomeRecord& record : assign.settled) {
    if (shard_of(*plan, record.task) != options.shard) {
      ghost_news(record, nullptr, true);
      continue;
    }
    if (record.outcome == Outcome::none) continue;
    const RowIndex row = table.find(record.task);
    DAG_CHECK(row != no_row && !table[row].ghost && !is(row, flag::noted));
    Fact& known = fact_of(row);
    known.attempt = record.attempt;
    known.digest = record.digest;
    known.size_bytes = record.size_bytes;
    known.has_output = record.has_output;
    known.conditions = record.conditions;
    known.error = record.error;
    if (record.value) table[row].output.store(record.value);
    if (known.becomes != no_row && record.outcome == Outcome::finished) {
      known.owner = owner_of(known.becomes);
      if (known.owner != known.becomes) {
        ++notes[known.owner].consumers;
        --notes[known.becomes].consumers;
      }
    } else if (known.becomes != no_row) {
      --notes[known.becomes].consumers;
    }
    end_settled(row, record.outcome);
  }
  for (const OutputName& kept : assign.kept) {
    const RowIndex row = table.find(kept.task);
    if (row != no_row && !table[row].ghost) set(row, flag::kept | flag::wanted);
  }
  for (const RowIndex row : own) {
    if (is_call(row) && calls.actor_of(row).can_save) {
      set(row, flag::retained);
      borders.retain(row);
    } else if (is_call(row) || !is(row, flag::grown)) {
      release_inputs(row);
    }
  }
  for (const OutcomeRecord* growth : growths) {
    const RowIndex row = table.find(growth->task);
    if (is(row, flag::grown) && !is_call(row)) release_inputs(row);
  }
  for (std::uint32_t group = 0; group < calls.group_count(); ++group) saves_changed(group);
  for (const RowIndex row : own) maybe_let_go(row);
  for (const TaskId task : assign.cancelled) {
    const RowIndex row = table.find(task);
    if (row == no_row || table[row].ghost || has_ended(row)) continue;
    close(row, Outcome::cancelled, Error{ErrorCode::task_cancelled, describe(row) + " was cancelled"},
          flag::by_order);
  }
  if (state.cancelled) cancel_all();
  for (const message::Tried& tried : assign.tried) {
    const RowIndex row = table.find(tried.task);
    // An unknown row was spawned by an attempt that does not count.
    if (row == no_row || is_planted(options.planted, PlantedInHome::tries_forgotten)) continue;
    retries.recorded(row, tried.failed);
    table.apply(row, Watched{});  // Not for a lane alone: its kernel is told which try it is.
  }
  for (const TaskId task : assign.started) {
    const RowIndex row = table.find(task);
    if (row != no_row && !is_planted(options.planted, PlantedInHome::starts_forgotten))
      starts.begun_before(row);
  }
  on_crashes(nullptr);
  recount_if_complete();
}

void Home::Impl::on(Life from, const message::Report& report) {
  // Its runner and its homes may both know of one attempt, and only one of them all of it.
  std::set<OutputName> taken;
  std::vector<OutputName> not_taken;
  for (const message::Report::Had& had : report.had) {
    if (is_checkpoint(had.record.attempt)) {
      if (!had.bytes || !add_checkpoint(had.record, from)) not_taken.push_back(had.record.name());
      continue;
    }
    const RowIndex row = table.find(had.record.task);
    if (row == no_row || table[row].ghost || is(row, flag::vanished)) {
      not_taken.push_back(had.record.name());
      continue;
    }
    const bool counts_here = has_ended(row) || is(row, flag::grown);
    if (counts_here && attempt_of(row) == had.record.attempt) {
      // A copy of a counting output. If that was let go, no task needs it; else the sender is another holder.
      const std::uint64_t digest = fact(row) == nullptr ? 0 : fact(row)->digest;
      // A disk may still have an output of another job with this number.
      const bool same = digest == 0 || had.record.digest == 0 || digest == had.record.digest;
      if (is(row, flag::let_go) || !had.bytes || !same) {
        not_taken.push_back(had.record.name());
        continue;
      }
      taken.insert(had.record.name());
      Fact& known = fact_of(row);
      known.attempt = had.record.attempt;
      outputs.add_holder(row, from);
      if (is_call(row)) saves_changed(calls.actor_of(row).group);
      continue;
    }
    if (offer(row, had.record, had.bytes, from)) {
      taken.insert(had.record.name());
    } else {
      not_taken.push_back(had.record.name());
    }
  }
  for (const OutputName& name : not_taken) {
    if (!taken.contains(name)) release(from, name);
  }
  for (const message::Report::Running& running : report.running) {
    const RowIndex row = table.find(running.name.task);
    const bool known =
        row != no_row && dispatched.contains(row) && dispatched.at(row).id == running.name.attempt;
    if (known || earlier.is_back(running.name)) continue;
    if (row != no_row && again.contains(row) && again.at(row).out &&
        again.at(row).out->id == running.name.attempt) {
      continue;
    }
    const bool useful = row != no_row && !table[row].ghost && !is(row, flag::vanished | flag::grown) &&
                        !has_ended(row) && !is_call(row) && !dispatched.contains(row) &&
                        word(row).state != RowState::running && word(row).state != RowState::ready;
    const bool excludes = row != no_row && !table[row].ghost && !is(row, flag::vanished) && is_exclusive(row);
    if (!useful && excludes) {
      earlier.runs(row, from, running.name);  // Makes an output again, and cannot be ended.
      continue;
    }
    if (!useful) {
      send(from, message::Stop{plan->job, options.shard, options.epoch, running.name});
      continue;
    }
    EarlierAttempts::Offer offer;
    offer.record.task = running.name.task;
    offer.record.attempt = running.name.attempt;
    offer.record.inputs = running.inputs;
    offer.running = true;
    offer.from = from;
    earlier.add(row, std::move(offer));
  }
  for (const message::TaskBits& some : report.ended) {
    some.each([&](TaskId task) {
      const RowIndex row = table.find(task);
      if (row != no_row && !table[row].ghost && !has_ended(row)) earlier.ended_elsewhere(row);
    });
  }
  if (recounting()) {
    recount->reported(from);
    recount_if_complete();
  }
}

/// Remembers an attempt of an earlier home that ended, for a row that has not been started. False: it is of
/// no use.
bool Home::Impl::offer(RowIndex row, const OutcomeRecord& record, bool bytes, Life from) {
  const RowState now_state = word(row).state;
  const bool open_still = (now_state == RowState::waiting || now_state == RowState::held) &&
                          !is(row, flag::grown | flag::vanished) && !dispatched.contains(row);
  const bool whole = !record.grew || record.spawned != nullptr;
  // A process that heard of NotEnded must not see this end count: its own ends might be settled on it.
  if (is(row, flag::denied) || earlier.is_overtaken(record.name())) return false;
  if (!open_still || !whole || record.outcome != Outcome::finished || is_call(row)) return false;
  earlier.add(row, {record, false, bytes, from});
  // A lane that makes the row ready must ask the home. (The edge that the home itself satisfies is open
  // during a recount; later a lane may be faster, and then the offer was not needed.)
  if (recounting()) table.apply(row, Watched{});
  return true;
}

void Home::Impl::recount_if_complete() {
  if (!recounting() || !recount->complete()) return;
  recount.reset();
  say({}, {}, [&] { return event::Recounted{options.shard, options.epoch}; });
  count_groups_again();
  // The home wants to look at the offers before a lane starts those rows.
  for (const RowIndex row : earlier.rows()) table.apply(row, Watched{});
  for (RowIndex row = 0; row < table.size(); ++row) {
    if (!table[row].ghost) satisfy(row);
  }
  for (std::uint32_t actor = 0; actor < calls.size(); ++actor) {
    if (const RowIndex next = calls[actor].next_call(); next != no_row) work.decide(next);
  }
  objects.recounted();
  replicate_saves();
  copy_checkpoints();
  for (RowIndex row = 0; row < table.size(); ++row) {
    if (!table[row].ghost && is(row, flag::noted) && varies(row)) copied(row);
  }
  // Questions that came meanwhile.
  for (const RowIndex row : askers.rows()) {
    if (has_ended(row)) answer_askers(row);
  }
}

/// Takes an attempt that was reported instead of issuing one.
bool Home::Impl::adopt(RowIndex row) {
  using Offer = EarlierAttempts::Offer;
  const EarlierAttempts::Offers offered = earlier.take(row);
  if (offered.empty()) return false;
  // If an output is lost and its digest unknown, nobody could tell whether a remade output is the same. So it
  // is made now, by another attempt, and what was computed from it is void.
  const auto untold = [&](const Offer& offer) {
    return !offer.running && !offer.bytes && offer.record.has_output && offer.record.digest == 0 &&
           !offer.record.value && table.policy_of(table[row]).effects != Effects::at_most_once;
  };
  // An ended attempt is worth more than a running one, and most from the holder of its bytes (and digest).
  const auto worth = [](const Offer& offer) { return offer.running ? 0 : offer.bytes ? 2 : 1; };
  const Offer* best = nullptr;
  for (const Offer& offer : offered) {
    const bool fits =
        names_hold(offer.record.inputs) || is_planted(options.planted, PlantedInHome::running_twice);
    if (!alive(offer.from) || !fits || untold(offer)) continue;
    if (offer.running && earlier.is_back(offer.record.name())) continue;
    if (best == nullptr || worth(*best) < worth(offer)) best = &offer;
  }
  for (const Offer& offer : offered) {
    if (&offer == best || !alive(offer.from)) continue;
    if (offer.running && (best == nullptr || offer.record.attempt != best->record.attempt)) {
      send(offer.from, message::Stop{plan->job, options.shard, options.epoch, offer.record.name()});
    } else if (!offer.running && (best == nullptr || offer.record.attempt != best->record.attempt)) {
      release(offer.from, offer.record.name());
    }
  }
  if (best == nullptr) return false;
  const Next lent = table.apply(row, LentOut{});
  DAG_CHECK(lent.what == Do::run);
  if (best->running) {
    dispatched[row] = {best->from, best->record.attempt, lent.word.attempt, false};
    say(table.id(row), best->record.attempt, [&] { return event::Lent{best->from.process}; });
    return true;
  }
  OutcomeRecord record = best->record;
  row_attempt_ended(row, record, best->from, lent.word.attempt, std::nullopt);
  if (record.outcome !=
      Outcome::finished) {  // The task spawned too much, and the home before this one did not hear.
    for (const Offer& offer : offered) {
      if (!offer.running && offer.record.attempt == record.attempt) release(offer.from, record.name());
    }
    return true;
  }
  if (!best->bytes) outputs.drop_holder(row, best->from);
  for (const Offer& offer : offered) {
    if (&offer != best && !offer.running && offer.bytes && offer.record.attempt == best->record.attempt &&
        alive(offer.from) && !is(row, flag::let_go)) {
      outputs.add_holder(row, offer.from);
    }
  }
  return true;
}

/// Called when it is settled which attempts are taken over. Other homes take rows for ended that are not,
/// because the former home told them so and no report had it. Left alone, outcomes that rest on those ends
/// would wait for ever to be settled; and outcomes that rest on these in turn, here too, would hold up
/// everything behind them, perhaps the very row that has to end again.
void Home::Impl::deny_unended() {
  const std::set<RowIndex> ended = earlier.take_ended_elsewhere();
  if (ended.empty()) return;
  std::vector<RowIndex> rows;
  gate.close([] {});
  for (const RowIndex row : ended) {
    if (has_ended(row)) continue;
    table[row].told_by_home = true;
    rows.push_back(row);
  }
  gate.open();
  for (const RowIndex row : rows) {
    for (const EarlierAttempts::Offer& offer : earlier.take_ended(row))
      release(offer.from, offer.record.name());
  }
  tell_not_ended(rows);
}

/// To the homes of their successors.
void Home::Impl::tell_not_ended(const std::vector<RowIndex>& rows) {
  std::map<std::uint32_t, std::vector<message::TaskBits>> by_shard;
  for (const RowIndex row : rows) {
    set(row, flag::denied);
    for (const std::uint32_t shard : foreign_shards(row)) message::add_task(by_shard[shard], table.id(row));
  }
  for (auto& [shard, tasks] : by_shard) {
    send(home_of(shard), message::NotEnded{plan->job, shard, state.homes[shard].epoch, options.shard,
                                           options.epoch, ++changes, std::move(tasks)});
  }
}

}  // namespace dag
