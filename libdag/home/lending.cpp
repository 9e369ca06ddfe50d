// Rows and attempts that go to an idle process before a lane here has begun them.

#include "libdag/home/home_impl.hpp"

namespace dag {

/// Gives rows to an idle process: those offered that are still ready and gain time there.
std::size_t Home::Impl::lend(std::span<const RowIndex> rows, Life thief, std::uint32_t slots) {
  std::size_t went = 0;
  for (const RowIndex row : rows) {
    if (word(row).state != RowState::ready) continue;
    const bool can_go = !over && spawned_parts.has_credit() && slots > 0 && runs(thief) &&
                        thief != options.self && !is_call(row) &&
                        !placement->keeps(inputs_to_place(row), thief, options.self);
    if (!can_go) {
      effects.emplace_back(MakeReady{row, table.policy_of(table[row]).priority});
      continue;
    }
    const Next lent = table.apply(row, LentOut{});
    if (lent.what != Do::run) continue;  // A lane was faster.
    --slots;
    ++went;
    const AttemptId id{options.epoch, lent.word.attempt};
    dispatched[row] = {thief, id, lent.word.attempt, false};
    say(table.id(row), id, [&] { return event::Stolen{{options.self.process, std::nullopt}}; });
    dispatch(row, thief, id, false, {}, nullptr);
  }
  return went;
}

/// True if an attempt of the row may change its process before it has begun: it was not placed for its needs,
/// and its message holds all of it.
bool Home::Impl::may_go_elsewhere(RowIndex row) const {
  const Policy& policy = table.policy_of(table[row]);
  return !is_call(row) && policy.needs == Needs{} && policy.effects != Effects::exclusive;
}

/// Attempts that the runner here has are its own.
bool Home::Impl::may_lend(const OutputName& attempt) const {
  const RowIndex row = table.find(attempt.task);
  if (over || !spawned_parts.has_credit() || row == no_row || table[row].ghost) return false;
  const auto out = dispatched.find(row);
  return out != dispatched.end() && out->second.id == attempt.attempt && out->second.direct &&
         may_go_elsewhere(row);
}

std::size_t Home::Impl::lend_attempts(std::span<const OutputName> attempts, Life thief) {
  std::size_t went = 0;
  for (const OutputName& attempt : attempts) {
    const RowIndex row = table.find(attempt.task);
    const auto out = dispatched.find(row);
    DAG_CHECK(out != dispatched.end() && out->second.id == attempt.attempt);
    if (lend_again(row, options.self, thief)) ++went;
  }
  return went;
}

/// Takes an attempt that no lane of `from` has begun and hands it to `thief`; or places it here, if moving it
/// costs more than waiting for a lane. A suspect goes to where it is placed. Returns whether the thief got
/// it.
bool Home::Impl::lend_again(RowIndex row, Life from, Life thief) {
  const auto out = dispatched.find(row);
  table.apply(row, TakenBack{out->second.word_attempt});
  dispatched.erase(out);
  const bool goes = runs(thief) && !placement->keeps(inputs_to_place(row), thief, options.self);
  Life to = goes ? thief : options.self;
  if (crashes.keeps_away_from_the_record(row)) to = place(row).at;
  const AttemptId id = issue(row, to);
  say(table.id(row), id, [&] { return event::Stolen{{from.process, std::nullopt}}; });
  dispatch(row, to, id, false, {}, nullptr);
  return to == thief;
}

}  // namespace dag
