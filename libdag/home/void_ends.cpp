// Ends that turn out not to count: everything that rests on them is undone, and made anew. None of it was
// sent to the cell, because those ends were not settled.

#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::EdgeKind;

/// All rows that rest on the ends of `changed`, directly or through others.
Undone Home::Impl::what_rests_on(const std::vector<RowIndex>& changed) {
  Undone undone;
  std::vector<RowIndex> stack = changed;
  while (!stack.empty()) {
    const RowIndex row = stack.back();
    stack.pop_back();
    each_out(row, [&](detail::EdgeKind, RowIndex successor) {
      if (successor == no_row || is(successor, flag::settled)) return;
      // A row that a client cancelled stays so, whatever comes of its predecessors.
      if (is(successor, flag::by_order)) {
        if (!is(successor, flag::grown) || is(successor, flag::grown_settled)) return;
        if (undone.outgrown.insert(successor).second) vanish(facts.at(successor).part, undone.vanished);
        return;
      }
      if (undone.anew.insert(successor).second) stack.push_back(successor);
    });
    if (table[row].ghost) continue;
    const Fact* known = fact(row);
    if (known == nullptr) continue;
    const bool head_ended =
        known->head != no_row && has_ended(known->head) && !is(known->head, flag::by_order | flag::settled);
    if (head_ended && !undone.anew.contains(known->head) && undone.reopened.insert(known->head).second) {
      stack.push_back(known->head);
    }
    if (undone.anew.contains(row) && known->part != detail::none) vanish(known->part, undone.vanished);
  }
  for (const RowIndex row : undone.anew) undone.reopened.erase(row);
  for (const RowIndex row : undone.vanished) {
    undone.anew.erase(row);
    undone.reopened.erase(row);
    undone.outgrown.erase(row);
  }
  return undone;
}

/// The rows of `changed` ended otherwise than their successors were told: all that rests on them starts anew.
void Home::Impl::reset_from(const std::vector<RowIndex>& changed) {
  const Undone undone = what_rests_on(changed);
  if (undone.anew.empty() && undone.reopened.empty() && undone.vanished.empty()) return;

  gate.close([] {});
  std::vector<RowIndex> taken_back;  // that others may have been told of
  std::set<std::uint32_t> dirty;     // groups of job actors whose state has seen what is undone
  for (const auto* rows : {&undone.anew, &undone.reopened}) {
    std::copy_if(rows->begin(), rows->end(), std::back_inserter(taken_back),
                 [&](RowIndex row) { return has_ended(row) && !foreign_shards(row).empty(); });
  }
  for (const auto* rows : {&undone.vanished, &undone.anew, &undone.reopened}) {
    for (const RowIndex row : *rows) {
      const bool seen = word(row).outcome == Outcome::finished || dispatched.contains(row);
      if (is_call(row) && seen) dirty.insert(calls.actor_of(row).group);
    }
  }
  for (const RowIndex row : undone.vanished) {
    undo(row, false);
    checkpoints.release_all(row);
    set(row, flag::vanished);
    ledger.row_vanished();
    if (is_call(row)) calls.erase(row);
    table.apply(row, Closed{Outcome::cancelled});
    answer_askers(row);
  }
  for (const RowIndex row : undone.outgrown) {
    Fact& what = facts.at(row);
    outputs.release_keeper(row, {table.id(row), what.grown_attempt});
    what.part = detail::none;
    what.becomes = no_row;
    unset(row, flag::grown | flag::grown_sent | flag::grown_settled);
    work.send(row);
  }
  for (const RowIndex row : undone.anew) undo(row, false);
  for (const RowIndex row : undone.reopened) undo(row, true);
  for (const RowIndex row : undone.anew) begin_anew(row, undone);
  for (const RowIndex row : undone.reopened) {
    table.apply(row, Recounted{1});  // Nothing removes this edge: the row ends with the one it became.
    table.apply(row, Watched{});
  }
  count_calls_again();
  gate.open();
  if (!taken_back.empty()) tell_not_ended(taken_back);
  for (const std::uint32_t group : dirty) roll_back(group, "calls it has seen start anew");
}

/// Resets the row: it has not ended, runs nowhere, and keeps only rows that become it. `keep_attempt`: it did
/// grow, by an attempt that counts, and only the task that it became has not ended.
void Home::Impl::undo(RowIndex row, bool keep_attempt) {
  DAG_CHECK(!is(row, flag::sent));
  if (is_call(row)) objects.undone(row);
  if (const auto out = dispatched.find(row); out != dispatched.end()) {
    // Undoing must not take longer for kernels that do no harm.
    if (table.policy_of(table[row]).effects == Effects::pure) {
      stop_dispatched(row, out->second);
    } else {
      stop_for_next(row, out->second);
    }
    if (is_call(row)) objects.not_busy(row);
    dispatched.erase(out);
  }
  if (const auto run = again.find(row); run != again.end()) {
    if (run->second.out) stop_dispatched(row, *run->second.out);
    // Also of a call that vanishes: its chain forgets it, and would take its end for that of another one.
    if (is_call(row)) objects.not_busy(row);
    again.erase(run);
  }
  retries.end_pause(row);
  digests.forget(row);
  outputs.forget_copy(row);
  if (!is_planted(options.planted, PlantedInHome::told_twice_by_lanes)) table[row].told_by_home = true;
  table[row].told = false;
  if (is(row, flag::noted)) --counts.ended;
  ends_undone = true;
  const auto known = facts.find(row);
  if (known != facts.end() && known->second.owner != no_row) consumer_done(known->second.owner);
  if (is(row, flag::grown) && !keep_attempt)
    outputs.release_keeper(row, {table.id(row), known->second.grown_attempt});
  std::optional<Life> keeper;  // of its growth, which stays
  if (keep_attempt) keeper = outputs.take_keeper(row);
  drop_bytes(row);
  if (keeper) outputs.set_keeper(row, *keeper);
  unpark(row);
  table[row].output.clear();
  unset(row, flag::noted | flag::let_go | flag::lingers);
  hold(row, HeldFor::nothing);
  if (known == facts.end()) return;
  Fact& what = known->second;
  if (keep_attempt) {
    what.owner = no_row;
    what.has_output = false;
    what.conditions.clear();
    what.error.reset();
    // Its pin on the row it became, which consumer_done above (or end_head) took away.
    if (what.becomes != no_row) ++notes[what.becomes].consumers;
    return;
  }
  if (what.part != detail::none) unset(row, flag::grown | flag::grown_sent | flag::grown_settled);
  Fact bare_fact;
  bare_fact.head = what.head;
  bare_fact.inherited = std::move(what.inherited);
  what = std::move(bare_fact);
}

/// The row waits for predecessors that have not ended, or have not after all.
void Home::Impl::begin_anew(RowIndex row, const Undone& undone) {
  std::uint32_t open_edges = recounting() ? 1 : 0;
  each_in(row, [&](EdgeKind kind, RowIndex predecessor, std::uint32_t) {
    // If no lane has reported the end, edges that are not strong are still to be satisfied.
    const bool satisfied = is(predecessor, flag::noted) || kind == detail::EdgeKind::strong;
    const bool still = has_ended(predecessor) && satisfied && !undone.anew.contains(predecessor) &&
                       !undone.reopened.contains(predecessor);
    if (!still) ++open_edges;
  });
  if (table.apply(row, Recounted{open_edges}).what == Do::decide) work.decide(row);
  // Predecessors without success have been counted; the last one to end must have all of them looked at.
  each_in(row, [&](EdgeKind, RowIndex predecessor, std::uint32_t) {
    if (has_ended(predecessor) && word(predecessor).outcome != Outcome::finished) table.apply(row, Watched{});
  });
  // A lane alone would not tell its kernel which try it is. Tries on inputs that do not count do not count
  // either, also for later homes.
  const bool numbered_out = word(row).attempt == Word::attempt_max;
  if (retries.any(row) || crashes.is_dangerous(row) || numbered_out) table.apply(row, Watched{});
  if (retries.forget_failed(row)) put_tried(row);
  say(row, [] { return event::StartedOver{"what it rests on changed"}; });
}

}  // namespace dag
