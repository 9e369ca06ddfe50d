// Tasks that took processes down, or may have: where they may still run, when they are given up, and the
// texts for people. The cell counts the deaths.

#include "libdag/home/home_impl.hpp"
#include "libdag/supervision/blame.hpp"

namespace dag {

/// Tries of the row that took their process down: the cell counts them, because homes die of them too.
std::uint32_t Home::Impl::crashes(RowIndex row) const {
  if (state.crashed.empty()) return 0;
  const message::Crashed* crashed = message::crashes_of(state, table.id(row));
  return crashed == nullptr ? 0 : crashed->times;
}

/// Deaths of processes that it may have caused, and nobody knows.
std::uint32_t Home::Impl::suspicions(RowIndex row) const {
  if (state.suspects.empty()) return 0;
  const message::Crashed* suspect = message::suspicions_of(state, table.id(row));
  return suspect == nullptr ? 0 : suspect->times;
}

/// A task that took processes down, or may have, runs alone so that it takes no other task along. But members
/// of a group wait for each other, so they run in company.
bool Home::Impl::runs_alone(RowIndex row) const {
  const bool quarantined = suspicions(row) > 0 || crashes(row) >= quarantined_after;
  return quarantined && !is(row, flag::member);
}

std::string Home::Impl::why_alone(RowIndex row) const {
  const std::uint32_t deaths = suspicions(row);
  if (deaths == 0) return "it crashed " + std::to_string(crashes(row)) + " processes";
  return "it was in " + (deaths == 1 ? "a process" : std::to_string(deaths) + " processes") +
         " that nobody knows who killed";
}

/// The error of a row that crashed too often.
Error Home::Impl::crash_error(RowIndex row) const {
  const message::Crashed& crashed = *message::crashes_of(state, table.id(row));
  const std::uint32_t deaths = suspicions(row);
  if (deaths <= suspicions_free) {
    const std::string times = crashed.times > 1 ? " " + std::to_string(crashed.times) + " times: " : ": ";
    return {ErrorCode::process_crashed, describe(row) + " crashed its process" + times + crashed.what};
  }
  return {ErrorCode::process_crashed,
          describe(row) + " ran in " + std::to_string(deaths) + " processes that were killed" +
              (runs_alone(row) ? ", at last with nothing beside it" : ""),
          "does it need more memory than there is? if somebody else kills processes, give it more tries "
          "with .retry()",
          crashed.what};
}

bool Home::Impl::crashed_too_often(RowIndex row) const {
  const std::uint32_t times = crashes(row);
  if (times == 0) return false;
  if (plan->quarantine && times >= quarantined_after) return true;
  const auto tried = tries.find(row);
  const std::uint32_t failed = tried == tries.end() ? 0 : tried->second.failed;
  return failed + times >= retry_of(row).attempts;
}

/// True: the task has crashed a process, or may have.
bool Home::Impl::is_dangerous(RowIndex row) const { return crashes(row) > 0 || suspicions(row) > 0; }

/// True: the task may crash a process, and there are others than the process that has the record.
bool Home::Impl::keeps_away_from_the_record(RowIndex row) const {
  return places.size() > 1 && runs(state.cell) && is_dangerous(row);
}

/// The last process has the record and the client. A first suspicion does not count: tasks that ran beside
/// the guilty one are suspects, too, and all are when an operator has killed the process.
bool Home::Impl::would_take_the_last_one(RowIndex row) const {
  return plan->quarantine && places.size() == 1 && places.front() == state.cell &&
         (crashes(row) > 0 || (suspicions(row) >= suspicions_free && runs_alone(row)));
}

Error Home::Impl::danger_error(RowIndex row) const {
  const std::uint32_t deaths = suspicions(row);
  const message::Crashed& known =
      deaths > 0 ? *message::suspicions_of(state, table.id(row)) : *message::crashes_of(state, table.id(row));
  const std::string did = deaths == 0 ? " crashed its process"
                                      : " ran in " + std::to_string(deaths) + " processes that were killed";
  return {ErrorCode::process_crashed,
          describe(row) + did + ", and is not tried in the last one, where the client is",
          "with `dag run --isolate`, or on a cluster, kernels run in processes of their own", known.what};
}

/// The state names tasks that took processes down, or may have, perhaps more than before. decide() looks at
/// them before they run again: this makes sure that it is called, though later, and ends tasks that it has
/// let run and that have no try left.
void Home::Impl::on_crashes(const message::JobState* before) {
  const auto row_of = [this](TaskId task) {
    const RowIndex row = table.find(task);
    if (row == no_row) careful = careful || shard_of(*plan, task) == options.shard;
    return row == no_row || table[row].ghost || is(row, flag::vanished) ? no_row : row;
  };
  for (const message::Crashed& suspect : state.suspects) {
    if (const RowIndex row = row_of(suspect.task); row != no_row) table.apply(row, Watched{});
  }
  for (const message::Crashed& crashed : state.crashed) {
    const RowIndex row = row_of(crashed.task);
    if (row == no_row) continue;
    const Retry& retry = table.policy_of(table[row]).retry;
    if (has_ended(row)) {
      // The row ran again for its output or its actor's state, which may go on for ever.
      if (crashed.times > retry.attempts + 3) {
        return fail_job({ErrorCode::process_crashed,
                         describe(row) + " ended, and running it again crashes processes: " + crashed.what});
      }
      continue;
    }
    table.apply(row, Watched{});
    const message::Crashed* known = before == nullptr ? nullptr : message::crashes_of(*before, crashed.task);
    if (known != nullptr && known->times >= crashed.times) continue;
    const auto tried = tries.find(row);
    const std::uint32_t number = crashed.times + (tried == tries.end() ? 0 : tried->second.failed);
    tell_trouble(row, Troubled::Kind::crash, number, crashed.what,
                 crashed_too_often(row) ? std::nullopt : std::optional(Duration{0}));
    if (is(row, flag::member)) {
      for (std::uint32_t n = known == nullptr ? 0 : known->times; n < crashed.times; ++n)
        groups.went_down(row, Exit::failed, Error{ErrorCode::process_crashed, crashed.what});
    }
    // By an attempt that had been taken back, say, and the next one was let run before that was known.
    const bool under_way = word(row).state != RowState::waiting && word(row).state != RowState::held;
    if (under_way && crashed_too_often(row)) {
      close(row, Outcome::failed, crash_error(row));
      continue;
    }
    const Duration pause = backoff_after(retry, crashed.times, random);
    if (pause > Duration{0} && !pauses.contains(row)) pauses.schedule(row, now + pause);
    if (pauses.contains(row)) to_decide.push_back(row);
  }
}

}  // namespace dag
