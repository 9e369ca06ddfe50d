// What the cell is told, and what it tells.
//
// A row's outcome is sent when it can never be taken back: when the outcomes that it rests on were sent (rows
// of this shard) or are settled with the attempts that were used (rows of others), and when what spawned it
// is fixed. A cut is under way at a time, so the cell sees them in order; while one is, the next grows.

#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::Edge;

namespace {
/// What a record weighs beside its value and its inputs, roughly.
constexpr std::size_t record_bytes = 128;
}  // namespace

Home::Impl::Cut& Home::Impl::open_cut() {
  if (cuts.empty() || cuts.back().bytes >= cut_bytes_max || cuts.back().about.size() >= cut_rows_max ||
      cuts.back().entries() >= cut_entries_max) {
    cuts.emplace_back();
  }
  return cuts.back();
}

/// Finished, and nothing more to say.
void Home::Impl::put_plain(Cut& cut, RowIndex row, AttemptId attempt) {
  const TaskId task = table[row].id;
  if (attempt != AttemptId{options.epoch, 1}) {
    cut.outcomes.plain.push_back({task, attempt});
    return;
  }
  const TaskId first{task.origin, task.index & ~63u};
  std::vector<message::TaskBits>& bits = cut.outcomes.first_try;
  // Neighbours end one after the other, mostly.
  if (bits.empty() || bits.back().first != first) bits.push_back({first, 0});
  bits.back().bits |= std::uint64_t{1} << (task.index & 63);
}

void Home::Impl::put_lean(Cut& cut, RowIndex row) {
  if (!options.several_processes || !table.draft_of(table[row]).returns) {
    return put_plain(cut, row, attempt_of(row));
  }
  cut.lean.push_back(row);
  cut.bytes += record_bytes + table[row].output.load().size_bytes();
}

void Home::Impl::put_record(Cut& cut, OutcomeRecord record) {
  cut.bytes += record_bytes + record.value.size_bytes() + record.inputs.size() * sizeof(OutputName);
  cut.outcomes.records.push_back(std::move(record));
}

/// Before the cut leaves. An output all of whose readers are recorded is not needed by who counts again after
/// this home; it is only named. So there are values at the border of what is recorded and nowhere else, and
/// nobody ever has to go back behind that border.
void Home::Impl::decide_lean(Cut& cut) {
  for (const RowIndex row : cut.about) set(row, flag::left);
  for (const RowIndex row : cut.lean) {
    bool needed = is(row, flag::kept);
    each_out(row, [&](const Edge&, RowIndex successor) { needed = needed || !is(successor, flag::left); });
    if (needed) {
      put_record(cut, record_of(row, true));
    } else {
      put_plain(cut, row, attempt_of(row));
    }
  }
  cut.lean.clear();
}

void Home::Impl::put(RowIndex row, bool growth) {
  Cut& cut = open_cut();
  if (!growth) {
    ++cut.rows;
    ++rows_sent;
  }
  cut.about.push_back(row);
  const Fact* known = fact(row);
  const bool simple = !growth && word(row).outcome == Outcome::finished && !is(row, flag::wanted) &&
                      (known == nullptr || (known->part == detail::none && known->conditions.empty()));
  if (simple && known == nullptr && is(row, flag::lean)) return put_lean(cut, row);
  // Other shards wait for the records of their predecessors, also while one process has them all.
  if (simple && (!options.several_processes || !table.draft_of(table[row]).returns) &&
      foreign_shards(row).empty()) {
    return put_plain(cut, row, attempt_of(row));
  }
  OutcomeRecord record = record_of(row, true);
  if (record.outcome != Outcome::finished) {
    const auto tried = tries.find(row);
    record.tries = (tried == tries.end() ? 0 : tried->second.failed) + crashes(row);
  }
  if (known != nullptr && known->part != detail::none && (growth || !is(row, flag::grown))) {
    record.spawned = table.part(known->part).fragment;
    record.first_spawned = table.part(known->part).first_id;
    if (growth) {
      record.outcome = Outcome::none;
      record.attempt = known->grown_attempt;
      record.becomes = table[known->becomes].task;
    }
  }
  put_record(cut, std::move(record));
}

/// The row is to be tried again: not before the cell knows how often it was, or the home that comes after
/// this one would begin to count anew.
void Home::Impl::put_tried(RowIndex row) {
  open_cut().outcomes.tried.push_back({table[row].id, tries.at(row).failed});
  unrecorded[row] = outcomes_sent + cuts.size();
}

bool Home::Impl::inputs_sent(RowIndex row) const {
  bool sent = true;
  each_in(row, [&](const Edge&, RowIndex predecessor, std::uint32_t) {
    sent = sent && is(predecessor, table[predecessor].ghost ? flag::settled : flag::sent);
  });
  if (!sent) return false;
  const RowIndex parent = parents[table[row].part];
  if (parent != no_row && !is(parent, flag::grown_sent | flag::sent)) return false;
  if (!is_call(row)) return true;
  // The state that it ran on is that after the call before it, which another fragment may have added.
  const ActorChain& chain = *chain_of(row);
  for (std::size_t i = chain.next; i-- > 0;) {
    if (chain.calls[i] == row) return i == 0 || is(chain.calls[i - 1], flag::sent);
  }
  return true;
}

void Home::Impl::try_send(RowIndex row) {
  if (is(row, flag::sent | flag::vanished)) return;
  const bool ended_now = is(row, flag::noted);
  if (!ended_now && (!is(row, flag::grown) || is(row, flag::grown_sent))) return;
  if (!inputs_sent(row) && options.planted != Planted::send_before_settled) return park(row);
  unpark(row);
  if (is(row, flag::grown) && !is(row, flag::grown_sent)) {
    set(row, flag::grown_sent);
    put(row, true);
    wake_parked_by(row);
  }
  if (!ended_now) return;
  const Fact* known = fact(row);
  if (known != nullptr && known->becomes != no_row && !is(known->becomes, flag::sent) &&
      !is(known->becomes, flag::vanished)) {
    return park(row);
  }
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
    if (other != no_row && is(other, flag::parked)) to_send.push_back(other);
  };
  each_out(row, [&](const Edge&, RowIndex successor) { wake(successor); });
  if (const Fact* known = fact(row)) {
    wake(known->head);
    if (known->part != detail::none) {
      for (const RowIndex child : table.part(known->part).rows) wake(child);
    }
  }
  if (is_call(row)) {
    const ActorChain& chain = *chain_of(row);
    for (std::size_t i = std::min(chain.next + 1, chain.calls.size()); i-- > 1;) {
      if (chain.calls[i - 1] == row) {
        wake(chain.calls[i]);
        break;
      }
    }
  }
}

void Home::Impl::flush() {
  if (recounting || over || outcomes_sent != outcomes_recorded) return;
  if (cuts.empty()) {
    if (cell_heard) return;
    cuts.emplace_back();  // Nothing ended yet, or there is nothing that could: the cell is to know.
  }
  cell_heard = true;
  Cut cut = std::move(cuts.front());
  cuts.pop_front();
  decide_lean(cut);
  rows_under_way += cut.rows;
  under_way = std::move(cut.about);
  message::Outcomes& outcomes = cut.outcomes;
  outcomes.job = plan->job;
  outcomes.shard = options.shard;
  outcomes.epoch = options.epoch;
  outcomes.number = ++outcomes_sent;
  outcomes.rows_open = rows_own - rows_under_way;
  send(state.cell, std::move(outcomes));
}

void Home::Impl::on(Life, const message::Settled& message) {
  if (message.from < position || (message.from == position && message.to == position)) return;
  ahead.emplace(message.from, message);
  while (!ahead.empty() && ahead.begin()->first <= position) {
    const message::Settled next = std::move(ahead.begin()->second);
    ahead.erase(ahead.begin());
    if (next.from < position) continue;
    position = next.to;
    if (next.outcomes > outcomes_recorded) {
      DAG_CHECK(next.outcomes == outcomes_sent);
      outcomes_recorded = next.outcomes;
      for (const RowIndex row : std::exchange(under_way, {})) {
        if ((notes[row].flags & (flag::lean | flag::known)) == flag::lean) {
          lean_settled(row);
        } else {
          own_settled(row);
        }
      }
    }
    for (auto at = unrecorded.begin(); at != unrecorded.end();) {
      if (at->second > outcomes_recorded) {
        ++at;
        continue;
      }
      to_decide.push_back(at->first);
      at = unrecorded.erase(at);
    }
    for (const OutcomeRecord& record : next.predecessors) ghost_news(record, nullptr, true);
  }
}

/// Nobody waits for it, so all there is to do is to let go of what it has read, and of its own if nobody
/// reads it.
void Home::Impl::lean_settled(RowIndex row) {
  DAG_CHECK((notes[row].flags & (flag::sent | flag::settled)) == flag::sent);
  set(row, flag::settled);
  ++counts.settled;
  release_inputs(row);
  maybe_let_go(row);
}

/// For a task whose attempt was fixed before it ended it is called twice: as it grew, and as it ended.
void Home::Impl::own_settled(RowIndex row) {
  const auto wake_children = [&](const Fact& known) {
    if (known.part == detail::none) return;
    for (const RowIndex child : table.part(known.part).rows) {
      if (is(child, flag::awaits_settled)) to_decide.push_back(child);
    }
  };
  const auto known = facts.find(row);
  if (is(row, flag::grown) && !is(row, flag::grown_settled)) {
    const OutputName name{table[row].id, known->second.grown_attempt};
    set(row, flag::grown_settled);
    wake_children(known->second);
    if (known->second.keeper) release(*known->second.keeper, name);
    known->second.keeper.reset();
    // The attempt is fixed for good, so it will not read its inputs again, however long it takes what it
    // became.
    if (!is_call(row)) release_inputs(row);
    return;
  }
  DAG_CHECK((notes[row].flags & (flag::sent | flag::settled)) == flag::sent);
  const OutputName name{table[row].id, attempt_of(row)};
  set(row, flag::settled);
  ++counts.settled;
  if (known != facts.end()) {
    wake_children(known->second);
    Fact& what = known->second;
    if (what.keeper &&
        std::find(what.holders.begin(), what.holders.end(), *what.keeper) == what.holders.end()) {
      release(*what.keeper, name);
      what.keeper.reset();
    }
  }
  each_out(row, [&](const Edge&, RowIndex successor) {
    if (successor != no_row && is(successor, flag::awaits_settled)) to_decide.push_back(successor);
  });
  ActorChain* chain = is_call(row) ? chain_of(row) : nullptr;
  if (chain != nullptr && chain->can_save && options.several_processes) {
    set(row, flag::retained);
    chain->retained.push_back(row);
    if (chain->retained.size() > retained_calls_max) {
      const RowIndex oldest = chain->retained.front();
      chain->retained.pop_front();
      unset(oldest, flag::retained);
      release_inputs(oldest);
    }
  } else if (chain != nullptr || !is(row, flag::grown)) {
    release_inputs(row);
  }
  if (chain != nullptr) saves_changed(chain->group);
  maybe_let_go(row);
}

void Home::Impl::on(Life, const message::Keep& keep) {
  for (const TaskId task : keep.tasks) {
    const RowIndex row = table.find(task);
    if (row != no_row && !table[row].ghost && !is(row, flag::let_go)) set(row, flag::kept | flag::wanted);
  }
}

void Home::Impl::on(Life, const message::Cancel& cancel) {
  for (const TaskId task : cancel.tasks) {
    const RowIndex row = table.find(task);
    if (row == no_row || table[row].ghost || has_ended(row)) continue;
    close(row, Outcome::cancelled, Error{ErrorCode::task_cancelled, describe(row) + " was cancelled"});
  }
}

}  // namespace dag
