// Rows that must not run again, or not at the same time: whether one of them may start.

#include "libdag/home/home_impl.hpp"

namespace dag {

/// For a row whose starts are settled, and that would start now. False: it does not, or not yet.
bool Home::Impl::may_start(RowIndex row) {
  if (!starts.begun(row)) {
    const bool room = starts.has_room();
    if (room) {
      put_started(row);
    } else {
      starts.await_room(row);
    }
    hold(row, room ? HeldFor::start_settled : HeldFor::slot);
    return false;
  }
  if (is_exclusive(row)) {
    const bool waits = waits_for_leases(row);
    if (waits) hold(row, HeldFor::lease);
    return !waits;
  }
  if (starts.may_run(row)) return true;
  close(row, Outcome::failed,
        Error{ErrorCode::outcome_unknown,
              describe(row) + " may run only once, and was lost while it ran: nobody knows how far it came",
              "look at what it was to do, and submit it again if it did not"});
  return false;
}

/// For an exclusive row that would be run now, or again.
bool Home::Impl::waits_for_leases(RowIndex row) {
  if (is_planted(options.planted, PlantedInHome::lease_not_waited_for)) return false;
  return starts.waits_for_lease({row, again.contains(row), earlier.still_runs(row, state.lives)}, now);
}

void Home::Impl::look_for_leases_over() {
  for (const RowIndex row : starts.take_leases_over(now)) {
    if (const auto run = again.find(row); run != again.end() && !run->second.out) {
      run_again(row);
    } else {
      work.decide(row);
    }
  }
}

/// Stops an attempt of a row that is to run again.
void Home::Impl::stop_for_next(RowIndex row, const OutAttempt& out) {
  stop_dispatched(row, out);
  const bool harmless = table.policy_of(table[row]).effects == Effects::pure;
  stopped_attempts.add(row, {out.id, out.runner, harmless ? now + pure_waits_max : Instant{Duration::max()}});
}

void Home::Impl::stopped_is_gone(RowIndex row, Life runner, AttemptId id) {
  if (stopped_attempts.ended(row, runner, id)) work.decide(row);
}

/// Processes of stopped attempts are lost. If a process is only taken for dead, the lease ends its exclusive
/// tasks.
void Home::Impl::stopped_are_lost(Instant leases_over) {
  for (const RowIndex row : stopped_attempts.lives_left(state.lives)) {
    if (is_exclusive(row)) starts.lost(row, leases_over);
    work.decide(row);
  }
}

}  // namespace dag
