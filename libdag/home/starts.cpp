// When rows may start that must not run again, or not at the same time: when it is recorded that they do.
// What is exclusive, and was started before, starts again when nobody can be running it any more who was
// lost; a home that comes after this one knows by the record which rows that are.

#include "libdag/home/home_impl.hpp"

namespace dag {

/// Of a row whose starts are recorded, and that would start now. False: it does not, or not yet.
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

/// Of an exclusive row that would be run now, or run again. True: it may still run at a process that is lost,
/// and is looked at again when the lease of that one is over.
bool Home::Impl::waits_for_leases(RowIndex row) {
  const auto lost = leases_over_at.find(row);
  Instant until = lost == leases_over_at.end() ? Instant{} : lost->second;
  // That an output is made again is not recorded.
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

}  // namespace dag
