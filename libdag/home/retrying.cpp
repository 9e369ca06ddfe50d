// Carries out what follows from attempts that failed, that were lost or came back, and that took their
// process down (retries.hpp, crashes.hpp).

#include "libdag/home/home_impl.hpp"

namespace dag {

/// Error of a row that had all attempts that its word can count in one epoch.
Error Home::Impl::no_more_attempts(RowIndex row) const {
  return {ErrorCode::task_failed,
          describe(row) + " began " + std::to_string(Word::attempt_max) + " times, the limit",
          "look at `dag history` for what takes its attempts back"};
}

/// The attempt will not end, because it was lost or returned: the row is held again.
void Home::Impl::take_back(RowIndex row, const EventWhat& why) {
  const auto out = dispatched.find(row);
  DAG_CHECK(out != dispatched.end());
  say(table.id(row), out->second.id, [&] { return why; });
  table.apply(row, TakenBack{out->second.word_attempt});
  dispatched.erase(out);
  starts.taken_back(row, std::holds_alternative<event::Lost>(why));
  if (!retries.on_lost(row, random)) {
    return close(row, Outcome::failed,
                 Error{ErrorCode::task_failed, describe(row) + " was lost with its process too often"});
  }
  if (is(row, flag::member) && std::holds_alternative<event::Lost>(why))
    groups.went_down(row, Exit::lost, std::nullopt);
  work.decide(row);
}

/// Without a next attempt the task fails, and those who follow the job hear of that anyway.
void Home::Impl::tell_trouble(RowIndex row, Troubled::Kind kind, std::uint32_t number,
                              const std::string& what, std::optional<Duration> again_after) {
  std::string text = "attempt " + std::to_string(number);
  text += kind == Troubled::Kind::crash     ? " crashed its process: "
          : kind == Troubled::Kind::timeout ? " is too late: "
                                            : " failed: ";
  text += what;
  if (again_after) {
    text += "; attempt " + std::to_string(number + 1) + " follows";
    if (*again_after > Duration{0}) text += " in " + text_of(*again_after);
  }
  effects.emplace_back(Troubled{kind, table.id(row), table.name_of(table[row]), number, std::move(text)});
}

void Home::Impl::attempt_failed(RowIndex row, std::uint32_t word_attempt, AttemptId id, const Error& why) {
  // Nobody knows how far it came: the state is that of the last call that returned, made again.
  if (is_call(row)) call_lost(row, "a call of it failed");
  const NextTry next = retries.on_failed(row, why, random);
  const std::uint32_t number = retries.charged(row);
  const auto* again_after = std::get_if<RetryAfter>(&next);
  const bool late = why.code == ErrorCode::timed_out;
  if (again_after != nullptr || late)
    tell_trouble(row, late ? Troubled::Kind::timeout : Troubled::Kind::retry, number, why.what,
                 again_after == nullptr ? std::nullopt : std::optional(again_after->pause));
  if (again_after != nullptr) {
    say(table.id(row), id, [&] { return event::Retried{again_after->pause, true}; });
    const Next taken = table.apply(row, TakenBack{word_attempt});
    if (taken.what != Do::decide) return;
    if (again_after->pause > Duration{0}) retries.pause(row, now + again_after->pause);
    if (is(row, flag::member)) groups.went_down(row, Exit::failed, why);
    work.decide(row);
    return put_tried(row);
  }
  Error error{
      why.code,
      describe(row) + " failed" + (number > 1 ? " " + std::to_string(number) + " times: " : ": ") + why.what,
      why.hint, why.cause};
  if (error.code != ErrorCode::timed_out) error.code = ErrorCode::task_failed;
  Fact& known = fact_of(row);
  known.attempt = id;
  known.error = std::move(error);
  known.has_output = false;
  if (table.apply(row, AttemptEnded{word_attempt, Outcome::failed}).what == Do::tell) note(row, false);
}

/// The state names tasks that took processes down, or may have, perhaps more than before. decide() looks at
/// them before they run again: this makes sure that it is called, though later, and ends tasks that it has
/// let run and that have no try left.
void Home::Impl::on_crashes(const message::JobState* before) {
  crashes.state_changed(options.shard);
  const auto row_of = [this](TaskId task) {
    const RowIndex row = table.find(task);
    return row == no_row || table[row].ghost || is(row, flag::vanished) ? no_row : row;
  };
  for (const message::Crashed& suspect : state.suspects) {
    if (const RowIndex row = row_of(suspect.task); row != no_row) table.apply(row, Watched{});
  }
  for (const message::Crashed& crashed : state.crashed) {
    const RowIndex row = row_of(crashed.task);
    if (row == no_row) continue;
    if (has_ended(row)) {
      // The row ran again for its output or its actor's state, which may go on for ever.
      if (crashed.times > table.policy_of(table[row]).retry.attempts + 3) {
        return fail_job({ErrorCode::process_crashed,
                         describe(row) + " ended, and running it again crashes processes: " + crashed.what});
      }
      continue;
    }
    table.apply(row, Watched{});
    const message::Crashed* known = before == nullptr ? nullptr : message::crashes_of(*before, crashed.task);
    if (known != nullptr && known->times >= crashed.times) continue;
    tell_trouble(row, Troubled::Kind::crash, retries.charged(row), crashed.what,
                 retries.crashed_too_often(row) ? std::nullopt : std::optional(Duration{0}));
    if (is(row, flag::member)) {
      for (std::uint32_t n = known == nullptr ? 0 : known->times; n < crashed.times; ++n)
        groups.went_down(row, Exit::failed, Error{ErrorCode::process_crashed, crashed.what});
    }
    // By an attempt that had been taken back, say, and the next one was let run before that was known.
    const bool under_way = word(row).state != RowState::waiting && word(row).state != RowState::held;
    if (under_way && retries.crashed_too_often(row)) {
      close(row, Outcome::failed, crashes.too_often_error(row));
      continue;
    }
    if (retries.pause_after_crash(row, now, random)) work.decide(row);
  }
}

}  // namespace dag
