// Starts of rows that must not run again, or not at the same time: a row starts when its start is recorded,
// and when no kernel of it that was told to stop still runs.
// An exclusive row that was started before and lost starts again when no process can be running it any more;
// a later home knows those rows by the record.

#include "libdag/home/home_impl.hpp"

namespace dag {

/// For a row whose starts are recorded, and that would start now. False: it does not, or not yet.
bool Home::Impl::may_start(RowIndex row) {
  const auto known = starts.find(row);
  if (known == starts.end()) {
    if (starts_open > options.lanes) {
      starts_waiting.insert(row);
    } else {
      put_started(row);
    }
    return false;
  }
  if (is_exclusive(row)) return !waits_for_leases(row);
  // Another home started it, or this one did, and nobody has it any more.
  if (known->second.may_run) return true;
  close(row, Outcome::failed,
        Error{ErrorCode::outcome_unknown,
              describe(row) + " may run only once, and was lost while it ran: nobody knows how far it came",
              "look at what it was to do, and submit it again if it did not"});
  return false;
}

/// It ended, or became others, which may have to start, too.
void Home::Impl::start_ended(RowIndex row) {
  const auto known = starts.find(row);
  if (known != starts.end() && std::exchange(known->second.ours, false)) --starts_open;
}

/// For an exclusive row that would be run now, or again. True: it may still run at a process that is lost;
/// the row is looked at again when the lease of that process is over.
bool Home::Impl::waits_for_leases(RowIndex row) {
  const auto lost = leases_over_at.find(row);
  Instant until = lost == leases_over_at.end() ? Instant{} : lost->second;
  // The record does not have it when an output is made again.
  const auto started = starts.find(row);
  const bool here_alone = started != starts.end() && started->second.ours && !again.contains(row);
  if (!here_alone) until = std::max(until, exclusive_from);
  if (const auto other = runs_elsewhere.find(row); other != runs_elsewhere.end()) {
    const auto& [life, name] = other->second;
    constexpr Duration look_again = std::chrono::milliseconds(100);
    if (alive(life) && !came_back.contains(name)) until = std::max(until, now + look_again);
  }
  if (now >= until || is_planted(options.planted, Planted::lease_not_waited_for)) {
    if (lost != leases_over_at.end()) leases_over_at.erase(lost);
    leases_waited_for.erase(row);
    return false;
  }
  leases_waited_for[row] = until;
  return true;
}

void Home::Impl::look_for_leases_over() {
  std::vector<RowIndex> over_now;
  for (const auto& [row, until] : leases_waited_for) {
    if (until <= now) over_now.push_back(row);
  }
  for (const RowIndex row : over_now) {
    leases_waited_for.erase(row);
    if (const auto run = again.find(row); run != again.end() && !run->second.out) {
      run_again(row);
    } else {
      to_decide.push_back(row);
    }
  }
}

/// An attempt of a row that is to run again.
void Home::Impl::stop_for_next(RowIndex row, const OutAttempt& out) {
  stop_handed_out(row, out);
  const bool harmless = table.policy_of(table[row]).effects == Effects::pure;
  still_stopping[row].push_back(
      {out.id, out.runner, harmless ? now + pure_waits_max : Instant{Duration::max()}});
}

bool Home::Impl::waits_for_stopped(RowIndex row) const {
  const auto found = still_stopping.find(row);
  return found != still_stopping.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const StoppedAttempt& one) { return alive(one.runner) && now < one.until; });
}

void Home::Impl::stopped_is_gone(RowIndex row, Life runner, AttemptId id) {
  const auto found = still_stopping.find(row);
  if (found == still_stopping.end()) return;
  std::erase_if(found->second,
                [&](const StoppedAttempt& one) { return one.id == id && one.runner == runner; });
  if (!found->second.empty()) return;
  still_stopping.erase(found);
  to_decide.push_back(row);
}

/// Returns the rows of which attempts were forgotten.
std::vector<RowIndex> Home::Impl::forget_stopped(const std::function<bool(const StoppedAttempt&)>& is_over) {
  std::vector<RowIndex> rows;
  for (auto at = still_stopping.begin(); at != still_stopping.end();) {
    auto& [row, attempts] = *at;
    if (std::erase_if(attempts, is_over) > 0) rows.push_back(row);
    at = attempts.empty() ? still_stopping.erase(at) : std::next(at);
  }
  to_decide.insert(to_decide.end(), rows.begin(), rows.end());
  return rows;
}

/// Their processes are lost. If a process is only taken for dead, the lease ends its exclusive tasks.
void Home::Impl::stopped_are_lost(Instant leases_over) {
  for (const RowIndex row : forget_stopped([&](const StoppedAttempt& one) { return !alive(one.runner); })) {
    if (is_exclusive(row)) leases_over_at[row] = leases_over;
  }
}

void Home::Impl::look_for_stopped() {
  forget_stopped([&](const StoppedAttempt& one) { return one.until <= now; });
}

}  // namespace dag
