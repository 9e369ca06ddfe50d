// Deciding on held rows: whether a row whose predecessors have all ended starts, ends without a start, or
// what it is held for.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::ArgumentKind;
using detail::EdgeKind;

namespace {

/// The cause that a task without a run names for a predecessor. A cancelled or skipped predecessor passes on
/// its own cause, so the root is named and not the whole path to it.
std::string cause_of(Outcome outcome, const Error& error) {
  if (outcome == Outcome::skipped) return error.cause;  // None: a condition was not met.
  if (!error.cause.empty() && outcome == Outcome::cancelled) return error.cause;
  return error.what + (error.cause.empty() ? "" : "\n" + error.cause);
}

}  // namespace

/// A row whose predecessors have all ended and that is not plain. Called again whenever something that it
/// waits for may have happened; changes nothing when that is not so.
void Home::Impl::decide(RowIndex row) {
  if (over || word(row).state != RowState::held || is(row, flag::vanished | flag::grown)) return;
  if (state.cancelled) {
    return close(row, Outcome::cancelled, Error{ErrorCode::task_cancelled, "the job was cancelled"});
  }
  if (retries.is_pausing(row)) return hold(row, HeldFor::pause);
  if (ledger.awaits_settling(row)) {
    if (!is_held_for(row, HeldFor::start_settled)) hold(row, HeldFor::failure_settled);
    return;
  }
  if (is(row, flag::member) && waits_for_group(row)) return hold(row, HeldFor::group);
  if (is_call(row) && calls.actor_of(row).next_call() != row) return hold(row, HeldFor::actors_turn);
  if (ends_without_start(row)) return;
  if (!inputs_settled(row) && !is_planted(options.planted, PlantedInHome::effects_early)) {
    ledger.press();
    return hold(row, HeldFor::settled_inputs);
  }
  hold(row, HeldFor::nothing);
  start_unless_held(row);
}

/// By the outcomes before it, the row is skipped or cancelled.
bool Home::Impl::ends_without_start(RowIndex row) {
  const Policy& policy = table.policy_of(table[row]);
  std::vector<EdgeResult> results = edge_results(row);
  // The call before it, when another fragment added that one, counts like one by a strong edge.
  const RowIndex call_before = is_call(row) ? calls.actor_of(row).last_ended() : no_row;
  if (call_before != no_row) results.push_back({EdgeKind::strong, word(call_before).outcome, true});
  const std::span<const detail::Argument> arguments =
      table.fragment_of(table[row]).arguments_of(table[row].task);
  switch (dag::decide(policy.join, results, arguments)) {
    case Decision::skip:
      close(row, Outcome::skipped, skip_reason(row, results));
      return true;
    case Decision::cancel:
      // A publish task stands for the kernel before it, so it fails with the kernel's error.
      if (policy.publishes && results.front().outcome == Outcome::failed) {
        close(row, Outcome::failed, error_before(row));
      } else {
        close(row, Outcome::cancelled, cancel_reason(row));
      }
      return true;
    case Decision::run:
      break;
  }
  return false;
}

void Home::Impl::start_unless_held(RowIndex row) {
  if (adopt(row)) return;
  if (waits_for_stopped(row)) return hold(row, HeldFor::stopped_attempt);
  if (spawned_parts.waits_for_credit(row)) return hold(row, HeldFor::credit);
  if (word(row).attempt == Word::attempt_max) return close(row, Outcome::failed, no_more_attempts(row));
  if (retries.crashed_too_often(row)) return close(row, Outcome::failed, crashes.too_often_error(row));
  if (crashes.would_take_the_last_one(row)) return close(row, Outcome::failed, crashes.last_one_error(row));
  if (is_call(row) && borders.holds(row)) {
    borders.await(row);
    return hold(row, HeldFor::save_settled);
  }
  const bool once = table.policy_of(table[row]).effects == Effects::at_most_once;
  if ((once || is_exclusive(row)) && !may_start(row)) return;
  if (!is_call(row)) return start(row);
  if (is_save(row) && !makes_save(row)) return close(row, Outcome::finished, {});
  hold(row, HeldFor::actors_turn);
  objects.approve(row);
}

/// True if the row may start as far as its inputs, or its spawning, must be settled before.
bool Home::Impl::inputs_settled(RowIndex row) const {
  const bool inputs_too = table.policy_of(table[row]).starts_from_settled();
  if (!inputs_too && !crashes.lost_a_spawned_one()) return true;
  const RowIndex parent = spawned_parts.parent_of(table[row].part);
  bool settled = parent == no_row || is(parent, flag::grown_settled | flag::settled);
  if (!inputs_too) return settled;
  each_in(row, [&](EdgeKind, RowIndex predecessor, std::uint32_t) {
    settled = settled && is(predecessor, flag::settled);
  });
  return settled;
}

/// The result of a conditional edge, by its place in the fragment.
bool Home::Impl::condition(RowIndex predecessor, std::uint32_t edge) const {
  const Part& part = table.part(table[predecessor].part);
  const auto conditionals = part.program->conditionals_of(predecessor - part.rows_begin);
  const auto found = std::find_if(conditionals.begin(), conditionals.end(),
                                  [&](const Program::Conditional& one) { return one.edge == edge; });
  DAG_CHECK(found != conditionals.end());
  const auto ordinal = static_cast<std::size_t>(found - conditionals.begin());
  const Fact* known = fact(predecessor);
  DAG_CHECK(known != nullptr);
  return ordinal < known->conditions.size() && known->conditions[ordinal];
}

std::vector<EdgeResult> Home::Impl::edge_results(RowIndex row) const {
  std::vector<EdgeResult> results;
  const std::uint32_t first = table.fragment_of(table[row]).first_edge[table[row].task];
  each_in(row, [&](EdgeKind kind, RowIndex predecessor, std::uint32_t i) {
    EdgeResult result{kind, word(predecessor).outcome, true};
    if (kind == EdgeKind::conditional && result.outcome == Outcome::finished) {
      result.condition = condition(predecessor, first + i);
    }
    results.push_back(result);
  });
  return results;
}

Error Home::Impl::cancel_reason(RowIndex row) const {
  Error error{ErrorCode::task_cancelled, "'" + table.name_of(table[row]) + "' was cancelled"};
  bool found = false;
  each_in(row, [&](EdgeKind kind, RowIndex predecessor, std::uint32_t) {
    if (found || kind == EdgeKind::weak) return;
    const Outcome outcome = word(predecessor).outcome;
    if (outcome != Outcome::failed && outcome != Outcome::cancelled) return;
    found = true;
    const Fact* known = fact(predecessor);
    error.what += ": '" + table.name_of(table[predecessor]) + "', which it needs, " +
                  (outcome == Outcome::failed ? "failed" : "was cancelled");
    if (known != nullptr && known->error) error.cause = cause_of(outcome, *known->error);
  });
  return error;
}

/// The error of the only row that it waits for.
Error Home::Impl::error_before(RowIndex row) const {
  Error error{ErrorCode::task_failed, describe(row) + " failed"};
  each_in(row, [&](EdgeKind, RowIndex predecessor, std::uint32_t) {
    const Fact* known = fact(predecessor);
    if (known != nullptr && known->error) error = *known->error;
  });
  return error;
}

/// With a cause when something failed; without one when a condition was not met.
Error Home::Impl::skip_reason(RowIndex row, const std::vector<EdgeResult>& results) const {
  std::vector<RowIndex> predecessors;
  each_in(row, [&](EdgeKind, RowIndex predecessor, std::uint32_t) { predecessors.push_back(predecessor); });
  Error error{ErrorCode::task_skipped, "'" + table.name_of(table[row]) +
                                           "' was skipped: a condition was not met, or an input was missing"};
  const auto look = [&](RowIndex predecessor) {
    const Outcome outcome = word(predecessor).outcome;
    const Fact* known = fact(predecessor);
    if (!error.cause.empty() || outcome == Outcome::finished || known == nullptr || !known->error) return;
    error.cause = cause_of(outcome, *known->error);
  };
  if (dag::decide(table.policy_of(table[row]).join, results, {}) != Decision::run) {
    for (std::size_t i = 0; i < predecessors.size(); ++i) {
      if (results[i].kind != EdgeKind::weak) look(predecessors[i]);
    }
    const RowIndex call_before = is_call(row) ? calls.actor_of(row).last_ended() : no_row;
    if (call_before != no_row) look(call_before);
    return error;
  }
  // The row was to run, but its arguments are not complete.
  for (const detail::Argument& argument : table.fragment_of(table[row]).arguments_of(table[row].task)) {
    if (!is_input(argument.kind) || argument.kind == ArgumentKind::maybe) continue;
    for (std::uint32_t k = 0; k < argument.count; ++k) look(predecessors[argument.first + k]);
  }
  return error;
}

// ---- What must hold

/// True if the reason holds the row now, as far as that shows.
bool Home::Impl::is_true(HeldFor why, RowIndex row) const {
  switch (why) {
    case HeldFor::nothing:
      return true;  // A lane has satisfied its last edge, and has not reported it.
    case HeldFor::pause:
      return retries.is_pausing(row);
    case HeldFor::failure_settled:
    case HeldFor::start_settled:
      return ledger.awaits_settling(row);
    case HeldFor::slot:
      return starts.awaits_room(row);
    case HeldFor::lease:
      return starts.awaits_lease(row);
    case HeldFor::stopped_attempt:
      return stopped_attempts.has_any(row);
    case HeldFor::credit:
      return spawned_parts.awaits_credit(row);
    case HeldFor::save_settled:
      return borders.awaits(row);
    case HeldFor::group:
      return is(row, flag::member) && groups.holds_back(row);
    case HeldFor::settled_inputs:
      return !inputs_settled(row);
    case HeldFor::actors_turn:
      return is_call(row);
  }
  return false;
}

/// After an event: no row is held for a reason that has passed.
void Home::Impl::check_held_rows() const {
  if (over || recounting()) return;
  for (RowIndex row = 0; row < table.size(); ++row) {
    const bool held = !table[row].ghost && word(row).state == RowState::held;
    if (held && !is(row, flag::vanished | flag::grown)) DAG_CHECK(is_true(notes[row].held_for, row));
  }
}

}  // namespace dag
