// Readiness of rows, and the consequences of an end for other rows.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::EdgeKind;

/// Sets up the home's data per row. The rows stay closed until open().
void Home::Impl::add_rows(std::uint32_t part_number, RowIndex parent) {
  const Part& part = table.part(part_number);
  const Program& program = *part.program;
  spawned_parts.add(part_number, parent);
  resize();
  const bool submitted = part.first_id.origin == 0;
  std::uint32_t of_rows = flag::presses | flag::elsewhere;
  // A client may ask for outputs that no task reads.
  if (submitted) of_rows |= flag::kept;
  if (submitted && plan->representation != Representation::supervised) of_rows |= flag::lean;
  DAG_CHECK((of_rows & (flag::in_sets | flag::known | flag::wanted)) == 0);  // Else set() has more to do.
  const bool alone = program.first_other.empty();
  Note* const note_of = notes.data() + part.rows_begin;
  for (RowIndex row = 0; row < program.size(); ++row) {
    note_of[row].consumers =
        alone ? program.first_out[row + 1] - program.first_out[row] : program.readers(row);
    if (row < program.rows) note_of[row].flags = program.flags[row] & of_rows & flag::all;
  }
  ledger.add_rows(program.rows);
  if (submitted) keep_unread_calls(part);
  if (submitted && plan->representation != Representation::supervised) find_rows_by_words();
  if (submitted) consumed.add_graph();
}

/// A call that only the next call of its actor waits for is read by nobody in the graph, either.
void Home::Impl::keep_unread_calls(const Part& part) {
  if (!options.released_bytes_max || part.fragment->actors.empty()) return;
  std::set<std::uint32_t> read;
  const detail::Fragment& fragment = *part.fragment;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    const auto edges = fragment.in_edges(task);
    for (const detail::Argument& argument : fragment.arguments_of(task)) {
      if (!is_input(argument.kind)) continue;
      for (std::uint32_t k = 0; k < argument.count; ++k) read.insert(edges[argument.first + k].task());
    }
  }
  for (RowIndex row = part.rows_begin; row < part.rows_end; ++row) {
    if (!table[row].ghost && table.kind_of(table[row]).call == detail::CallKind::call &&
        !read.contains(table[row].task)) {
      set(row, flag::kept);
    }
  }
}

/// Takes away the extra edge of the part's rows that wait for nothing else.
void Home::Impl::open(std::uint32_t part_number) {
  const Part& part = table.part(part_number);
  for (const RowIndex row : part.program->roots) satisfy(part.rows_begin + row);
}

void Home::Impl::satisfy(RowIndex row) {
  switch (table.apply(row, PredecessorEnded{}).what) {
    case Do::make_ready:
      say(row, [] { return event::Ready{}; });
      ready(row);
      break;
    case Do::decide:
      work.decide(row);
      break;
    default:
      break;
  }
}

/// Ends a row without an attempt of it; `flags` are set if it had not ended.
void Home::Impl::close(RowIndex row, Outcome outcome, std::optional<Error> error, std::uint32_t flags) {
  const auto out = dispatched.find(row);
  if (out != dispatched.end()) {
    stop_dispatched(row, out->second);
    dispatched.erase(out);
    if (is_call(row)) call_lost(row, "a call was stopped");
  }
  retries.end_pause(row);
  if (table.apply(row, Closed{outcome}).what != Do::tell) return;
  set(row, flags);
  Fact& known = fact_of(row);
  if (!is(row, flag::grown)) known.attempt = uncounted();
  known.error = std::move(error);
  known.has_output = false;
  const bool left_out = outcome == Outcome::finished;
  say_closed(row, outcome, left_out ? "left out: it was not time" : known.error ? known.error->what : "");
  note(row, false);
}

/// The row ended without an attempt of its own.
void Home::Impl::say_closed(RowIndex row, Outcome outcome, const std::string& why) {
  say(row, [&] {
    return outcome == Outcome::cancelled ? EventWhat(event::Cancelled{why})
                                         : EventWhat(event::Ended{outcome, Duration{0}, why});
  });
}

/// A row ended: satisfies its open edges, tells other shards, and ends the rows that became this one.
void Home::Impl::note(RowIndex row, bool by_lane) {
  DAG_CHECK(!is(row, flag::noted));
  set(row, flag::noted);
  const Word now_word = word(row);
  ++counts.ended;
  starts.ended(row);
  if (is(row, flag::member)) member_ended(row);
  const bool finished = now_word.outcome == Outcome::finished;
  bool elsewhere = false;
  each_out(row, [&](detail::EdgeKind kind, RowIndex successor) {
    if (successor == no_row) {
      elsewhere = true;
    } else if (!by_lane || !finished || kind != EdgeKind::strong) {
      if (!finished) table.apply(successor, Watched{});
      satisfy(successor);
    }
  });
  if (elsewhere && !table[row].told) {
    for (const std::uint32_t shard : foreign_shards(row)) tell_shard(row, shard);
  }
  if (const Fact* known = fact(row); known != nullptr && known->head != no_row) {
    work.end_head(known->head, row);
  }
  if (is_call(row)) call_ended(row);
  if (askers.contains(row)) answer_askers(row);
  work.send(row);
}

/// The end of a lean row that a lane reported, when all that it rests on was sent: then it may be sent, too.
/// False: there is more to it.
bool Home::Impl::note_lean(RowIndex row) {
  if ((notes[row].flags & (flag::lean | flag::known | flag::wanted)) != flag::lean) return false;
  if (sink.wants_runs() || parked_rows > 0 || !askers.empty()) return false;
  if (table[row].awaited && !table[row].told) return false;
  if (options.several_processes && needs_digest(row, table[row].output.load())) return false;
  bool sent = true;
  each_in(row, [&](EdgeKind, RowIndex predecessor, std::uint32_t) {
    sent = sent && (is(predecessor, flag::sent) || table[predecessor].ghost);  // Notes lie closer than rows.
  });
  if (!sent) return false;
  ++counts.ended;
  set(row, flag::noted | flag::sent);
  put(row, false);
  return true;
}

/// The end of a bare row that a lane reported, or that shows in the ends of its successors: reports of two
/// lanes have no order, and a row must not be noted before those it rests on.
void Home::Impl::note_quick(RowIndex row, Duration ran) {
  std::vector<RowIndex> stack{row};
  while (!stack.empty()) {
    const RowIndex top = stack.back();
    bool ready = true;
    each_in(top, [&](EdgeKind, RowIndex predecessor, std::uint32_t) {
      if (is(predecessor, flag::noted)) return;
      DAG_CHECK(has_ended(predecessor));
      if (table[predecessor].ghost) return note_ghost(predecessor);
      ready = false;
      stack.push_back(predecessor);
    });
    if (!ready) continue;
    stack.pop_back();
    if (is(top, flag::noted)) continue;
    const Word ended = word(top);
    const bool first_finish = ended.attempt == 1 && ended.outcome == Outcome::finished;
    if ((first_finish && notes_by_words() && note_by_word(top)) || note_lean(top)) continue;
    if (sink.wants_runs())
      say(top, [&] { return event::Ended{Outcome::finished, top == row ? ran : Duration{0}, {}}; });
    note(top, true);
  }
}

void Home::Impl::tell_shard(RowIndex row, std::uint32_t shard) {
  message::PredecessorEnded news;
  news.job = plan->job;
  news.shard = shard;
  news.epoch = state.homes[shard].epoch;
  news.from = options.shard;
  news.from_epoch = options.epoch;
  news.change = ++changes;
  news.record = record_of(row, false);
  news.record.spawned = nullptr;
  if (news.record.has_output && !news.record.value) news.holders = holders_of(row);
  send(home_of(shard), std::move(news));
}

void Home::Impl::on(Life, const message::PredecessorEnded& news) {
  const RowIndex row = table.find(news.record.task);
  if (row == no_row || !table[row].ghost || !is_newest(row, news.from, news.from_epoch, news.change)) return;
  ghost_news(news.record, &news.holders, false);
}

/// Applies the end of a row of another shard, from any sender. A settled record is final; else the latest
/// news of the row's current home counts.
void Home::Impl::ghost_news(const OutcomeRecord& record, const std::vector<Life>* holders, bool settled) {
  const RowIndex row = table.find(record.task);
  if (row == no_row || !table[row].ghost || record.outcome == Outcome::none) return;
  const bool first = !is(row, flag::noted) && end_ghost(row, record.outcome);
  if (!first && !is(row, flag::noted)) note_ghost(row);  // A lane was faster.
  Fact& known = first ? fact_of(row) : fact_of_ghost(row);
  const bool same_attempt = !first && known.attempt == record.attempt;
  const bool same_value =
      same_attempt || (!first && word(row).outcome == record.outcome &&
                       known.conditions == record.conditions && known.has_output == record.has_output &&
                       (!record.has_output || (record.digest != 0 && known.digest == record.digest)));
  if (!first && is(row, flag::settled) && !same_attempt) {
    DAG_CHECK(!settled);  // A settled outcome never changes.
    return;  // Older news: even with the same value it would change the attempt of outputs made from it.
  }
  known.attempt = record.attempt;
  if (!same_attempt || record.digest != 0) known.digest = record.digest;
  known.size_bytes = record.size_bytes;
  known.has_output = record.has_output;
  known.conditions = record.conditions;
  known.error = record.error;
  known.grew = record.grew;
  known.named = record.inputs;
  if (!first && !same_attempt) withdraw(row);
  if (!same_attempt) outputs.set_holders(row, {});
  if (holders != nullptr) outputs.set_holders(row, *holders);
  if (record.value) {
    if (!is(row, flag::let_go)) table[row].output.store(record.value);
  } else if (!same_value) {
    table[row].output.clear();
  }
  if (settled && !is(row, flag::settled)) set(row, flag::settled);
  if (first || is_planted(options.planted, PlantedInHome::edge_counted_twice)) {
    set(row, flag::noted);
    each_out(row, [&](detail::EdgeKind, RowIndex successor) {
      if (successor == no_row) return;
      if (record.outcome != Outcome::finished) table.apply(successor, Watched{});
      satisfy(successor);
    });
  } else if (!same_value) {
    unset(row, flag::published);
    Word changed = word(row);  // A ghost that ended: lanes leave its word alone.
    changed.outcome = record.outcome;
    table[row].word.store(changed.packed(), std::memory_order_release);
    if (!is_planted(options.planted, PlantedInHome::mismatch_ignored)) reset_from({row});
  }
  if (settled) {
    each_out(row, [&](detail::EdgeKind, RowIndex successor) {
      if (successor == no_row) return;
      if (is_held_for(successor, HeldFor::settled_inputs)) work.decide(successor);
    });
  }
}

}  // namespace dag
