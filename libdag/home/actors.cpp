// Job actors, as the home serves them: carries out the steps of objects (actor_objects.hpp), and the
// consequences of ended calls, rollbacks and complete borders (borders.hpp) for rows.

#include "libdag/home/copies.hpp"
#include "libdag/home/home_impl.hpp"

namespace dag {

void Home::Impl::add_actors() {
  calls.add_actors();
  borders.begin(now);
  objects.begin();
  if (!has_calls(*plan->graph)) return;
  const Part& part = table.part(0);
  for (RowIndex row = part.rows_begin; row < part.rows_end; ++row) {
    if (!table[row].ghost && is_call(row)) add_call(row, {});
  }
}

void Home::Impl::add_call(RowIndex row, const std::set<RowIndex>& behind) {
  calls.add(row, behind);
  // A saved state is read by nobody in the graph, and kept until a newer one is complete.
  if (is_save(row)) ++notes[row].consumers;
}

/// A call ended, by any outcome: the next one's turn.
void Home::Impl::call_ended(RowIndex row) {
  const std::uint32_t actor = calls.number_of(row);
  for (RowIndex ended = calls.take_ended(actor); ended != no_row; ended = calls.take_ended(actor)) {
    if (is_save(ended) && borders.save_ended(ended, now)) replicate_save(ended);
  }
  if (const RowIndex next = calls[actor].next_call(); next != no_row) work.decide(next);
  objects.look_at(row);
}

/// Ends were taken back, and calls have vanished.
void Home::Impl::count_calls_again() {
  for (std::uint32_t actor = 0; actor < calls.size(); ++actor) {
    calls.begin_anew(actor);
    borders.begin_anew(actor);
    for (RowIndex ended = calls.take_ended(actor); ended != no_row; ended = calls.take_ended(actor)) {
      if (is_save(ended)) borders.save_ended(ended);
    }
  }
}

void Home::Impl::step_actor(std::uint32_t actor) {
  if (over || recounting()) return;
  const ActorStep step = objects.step(actor, places);
  switch (step.what) {
    case ActorStep::What::nothing:
      return;
    case ActorStep::What::start:
      if (is_save(step.call)) borders.save_began(step.call, now);
      return start(step.call, step.at);
    case ActorStep::What::make_object: {
      const AttemptId id = uncounted();
      objects.name_object(actor, id);
      again[step.call].out = OutAttempt{step.at, id, 0, false};
      if (step.save == no_row) return dispatch(step.call, step.at, id, true, id, nullptr);
      const OutcomeRecord record = record_of(step.save, false);
      return dispatch(step.call, step.at, id, true, id, &record);
    }
    case ActorStep::What::run_again: {
      const AttemptId id = uncounted();
      again[step.call] = {OutAttempt{step.at, id, 0, false}, 0};
      return dispatch(step.call, step.at, id, true, step.object, nullptr);
    }
  }
}

/// The end of a run that made an object or a call's value again.
void Home::Impl::call_again_ended(RowIndex row, OutcomeRecord& record, Life from) {
  const bool create = table.kind_of(table[row]).call == detail::CallKind::create;
  objects.not_busy(row);
  again.erase(row);
  if (record.outcome != Outcome::finished) {
    if (!create) release(from, {record.task, attempt_of(row)});
    return roll_back(calls.actor_of(row).group,
                     record.error ? record.error->what : "its object could not be made again");
  }
  objects.ran_again(row);
  if (create) {
    say(row, [] { return event::Restored{}; });
    if (from != options.self) release(from, {record.task, attempt_of(row)});
  } else {
    output_is_there_again(row, record, from);
    // Its readers may come later in this very rollback, so it stays for a while even when it had been let go.
  }
  objects.look_at(row);
}

/// An attempt of a call will not end, and what it did to its object is unknown.
void Home::Impl::call_lost(RowIndex row, const std::string& why) {
  objects.not_busy(row);
  roll_back(calls.actor_of(row).group, why);
}

/// An output of an ended call is lost, and needed.
void Home::Impl::remake_call(RowIndex row) {
  if (!objects.want_again(row)) return;
  const std::uint32_t group = calls.actor_of(row).group;
  roll_back(group, "an output of it was lost");
  objects.look_at_group(group);
}

void Home::Impl::roll_back(std::uint32_t group, const std::string& why) {
  if (over) return;
  const auto rollback = objects.roll_back(group);
  if (!rollback) {
    return fail_job({ErrorCode::internal, "job actors were restored " +
                                              std::to_string(options.rollbacks_max + 1) +
                                              " times without getting further; last because " + why});
  }
  for (const std::uint32_t actor : rollback->busy) {
    for (const RowIndex row : calls[actor].calls) {
      if (const auto out = dispatched.find(row); out != dispatched.end()) {
        stop_dispatched(row, out->second);
        say(table.id(row), out->second.id, [&] { return event::Lost{why}; });
        table.apply(row, TakenBack{out->second.word_attempt});
        dispatched.erase(out);
      }
      if (const auto run = again.find(row); run != again.end()) {
        if (run->second.out) stop_dispatched(row, *run->second.out);
        again.erase(run);
      }
    }
  }
  work.decide(rollback->next);
  for (const RowIndex create : rollback->given_up) {
    say(create, [&] { return event::RolledBack{rollback->border, why}; });
  }
}

/// True if a save that could run now is made, false if it is left out.
bool Home::Impl::makes_save(RowIndex row) {
  const std::uint32_t group = calls.actor_of(row).group;
  const bool may_be_left_out = table.policy_of(table[row]).checkpoint.has_value();
  const Duration lost_after =
      may_be_left_out ? losses.mean_time(now, places.size()) / objects.processes_of(group) : Duration{0};
  return borders.makes(row, lost_after, now);
}

/// A save settled or was copied: perhaps a border is complete, and older ones may go. Not while objects come
/// back from an older border: their inputs must come from there, too.
void Home::Impl::saves_changed(std::uint32_t group) {
  if (objects.comes_back(group)) return;
  const auto complete = borders.advance(group);
  if (!complete) return;
  for (const Borders::Behind& behind : complete->behind) {
    if (behind.save) {
      consumer_done(behind.row);
    } else {
      unset(behind.row, flag::retained);
      release_inputs(behind.row);
    }
  }
  say(calls[calls.group(group).front()].calls.front(), [&] { return event::Saved{0, complete->border}; });
}

/// Asks for new copies, since holders may be gone.
void Home::Impl::replicate_saves() {
  for (const RowIndex save : borders.saves_in_use()) replicate_save(save);
}

void Home::Impl::replicate_save(RowIndex row) {
  if (!options.several_processes) return;
  const OutcomeRecord record = record_of(row, false);
  if (!record.has_output) return;
  // A save in the record is sent all the same: processes that write saves to disk need all of a group.
  const std::vector<Life> holders = record.value ? std::vector<Life>{} : holders_of(row);
  if (!record.value && holders.empty()) return;  // A lost save that nobody needs for its own sake.
  const std::vector<Life> lacking =
      record.value ? std::vector{state.cell} : lacks_copies(state, options.self, holders);
  if (lacking.empty()) return;
  const message::SavedAs as = borders.saved_as(row);
  for (const Life life : lacking) {
    send(life, message::Replicate{plan->job, options.shard, options.epoch, record, holders, as});
  }
}

}  // namespace dag
