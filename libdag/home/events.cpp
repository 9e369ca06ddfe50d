// Events of a home, and where each goes.

#include <algorithm>
#include <span>

#include "libdag/home/home_impl.hpp"

namespace dag {

Home::Impl::Impl(HomeOptions given, std::shared_ptr<const JobPlan> the_plan, RowTable& rows, Gate& lanes_gate,
                 EventSink& records, std::unique_ptr<HomePlacement> place)
    : HomeRows(rows, given.epoch),
      options(given),
      plan(std::move(the_plan)),
      gate(lanes_gate),
      sink(records),
      placement(std::move(place)),
      random(given.seed),
      critical_path(*plan->graph),
      outputs(*this, state, given.self),
      digests(*this),
      staying(given.released_bytes_max.value_or(0)),
      crashes(*this, state, places, *plan),
      retries(*this, crashes, plan->quarantine),
      checkpoints(*this, outputs, state, options),
      starts(given.lanes),
      spawned_parts(given.spawn_credit, first_spawned_of(given.shard, given.epoch)),
      ledger(given.cut_interval, given.planted),
      ways(state, given.shard),
      consumed(*this),
      calls(*this, *plan->graph, plan->shards > 1, given.planted),
      borders(*this, calls, outputs, state, options, plan->inline_bytes_max),
      objects(*this, calls, borders, state, *placement, options),
      groups(*this) {
  DAG_CHECK(options.shard < plan->shards && plan->shard_of.size() == plan->graph->size());
  DAG_CHECK(options.epoch.count < epochs_max);
}

void Home::Impl::begin(const message::JobState& first_state) {
  state = first_state;
  places = message::lives_that_run(state);
  add_graph();
  add_actors();
  add_groups();
  open(0);
  if (state.cancelled) cancel_all();
}

bool Home::Impl::alive(Life life) const { return message::is_alive(state, life); }
bool Home::Impl::runs(Life life) const { return std::binary_search(places.begin(), places.end(), life); }

void Home::Impl::on_state(const message::JobState& newer) {
  if (newer.version <= state.version) return;
  const message::JobState before = std::exchange(state, newer);
  places = message::lives_that_run(state);
  if (state.ended) {
    over = true;
    return;
  }
  if (state.lives.size() > 1) options.several_processes = true;
  const Instant leases_over = now + reissue_after(options.lease);
  starts.lives_left(state.lives, leases_over);
  if (state.term != before.term) say_again();
  change_routes();  // Processes that it wants told are told again below: their homes begin to count.
  for (const std::uint32_t group : objects.lost_groups()) roll_back(group, "its process died");
  on_crashes(&before);
  stopped_are_lost(leases_over);
  attempts_lost(leases_over);
  outputs.lives_changed();
  if (!is_planted(options.planted, PlantedInHome::digest_waited_for)) {
    for (const RowIndex row : digests.lives_left(state.lives)) work.send(row);
  }
  tell_new_homes(before);
  checkpoints_lost(before);
  copies_lost();
  if (recounting()) {
    recount->lives_left(state.lives);
    recount_if_complete();
  }
  if (state.replicas > 1 && (state.term != before.term || state.lives != before.lives)) replicate_saves();
  if (state.cancelled && !before.cancelled) cancel_all();
}

/// Attempts at processes that have gone are taken back, or run again.
void Home::Impl::attempts_lost(Instant leases_over) {
  std::vector<RowIndex> lost;
  for (const auto& [row, out] : dispatched) {
    if (!alive(out.runner) && !is_planted(options.planted, PlantedInHome::loss_ignored)) lost.push_back(row);
  }
  for (const RowIndex row : lost) {
    if (is_exclusive(row)) {
      starts.lost(row, leases_over);
      starts.ended(row);  // Others need not wait for it meanwhile.
    }
    take_back(row, event::Lost{to_string(dispatched.at(row).runner) + " died"});
  }
  lost.clear();
  for (auto& [row, run] : again) {
    if (run.out && !alive(run.out->runner)) lost.push_back(row);
  }
  for (const RowIndex row : lost) {
    if (is_exclusive(row)) starts.lost(row, leases_over);
    run_again(row);
  }
}

/// Homes that begin to count have to be told again of rows they wait for, and of outputs they need not keep.
void Home::Impl::tell_new_homes(const message::JobState& before) {
  for (std::uint32_t shard = 0; shard < state.homes.size(); ++shard) {
    if (shard == options.shard || state.homes[shard].epoch == before.homes[shard].epoch) continue;
    for (RowIndex row = 0; row < table.part(0).rows_end; ++row) {
      if (table[row].ghost) {
        if (is(row, flag::consumed) && plan->shard_of[table[row].task] == shard) {
          consumed.tell(shard, table.id(row));
        }
      } else if (is(row, flag::noted)) {
        const std::span<const ShardIndex> shards = foreign_shards(row);
        if (std::binary_search(shards.begin(), shards.end(), shard)) tell_shard(row, shard);
      }
    }
  }
}

void Home::Impl::cancel_all() {
  for (RowIndex row = 0; row < table.size(); ++row) {
    if (table[row].ghost || has_ended(row) || is(row, flag::vanished)) continue;
    close(row, Outcome::cancelled, Error{ErrorCode::task_cancelled, "the job was cancelled"}, flag::by_order);
  }
}

void Home::Impl::on_lanes(LaneReport&& report) {
  std::span<const QuickEnd> quick(report.quick);
  if (notes_by_words()) quick = quick.subspan(note_by_words(quick));
  while (!quick.empty()) {
    note_reported(quick.front());
    quick = quick.subspan(1);
    if (notes_by_words()) quick = quick.subspan(note_by_words(quick));
  }
  for (SlowEnd& slow : report.slow) {
    const Word running = word(slow.row);
    if (running.state != RowState::running || running.attempt != slow.attempt) continue;
    slow.ended.task = table.id(slow.row);
    slow.ended.id = {options.epoch, slow.attempt};
    OutcomeRecord record;
    record.task = slow.ended.task;
    record.attempt = slow.ended.id;
    record.outcome = slow.ended.outcome;
    record.has_output = static_cast<bool>(slow.ended.output);
    record.size_bytes = slow.ended.output.size_bytes();
    record.value = std::move(slow.ended.output);
    record.conditions = std::move(slow.ended.conditions);
    record.spawned = std::move(slow.ended.spawned);
    record.becomes = slow.ended.becomes;
    record.error = std::move(slow.ended.error);
    row_attempt_ended(slow.row, record, options.self, slow.attempt, slow.ended.ran);
  }
  for (const RowIndex ghost : report.ghosts) {
    if (has_ended(ghost) && !is(ghost, flag::noted)) note_ghost(ghost);
  }
  for (const RowIndex row : report.decide) work.decide(row);
  for (const RowIndex row : report.missing_inputs) work.decide(row);
}

void Home::Impl::note_reported(const QuickEnd& quick) {
  const Word ended = word(quick.row);
  if (ended.state != RowState::ended || ended.attempt != quick.attempt ||
      ended.outcome != Outcome::finished || is(quick.row, flag::noted | flag::vanished)) {
    return;
  }
  if (is_observed(quick)) observe(quick.row, quick.ran);
  if (!note_lean(quick.row)) note_quick(quick.row, quick.ran);
}

void Home::Impl::on_message(Life from, const JobMessage& message) {
  const auto named = shard_epoch_of(message);
  if (!named || named->shard != options.shard || named->epoch != options.epoch) return;
  std::visit([&](const auto& any) { on(from, any); }, message);
}

void Home::Impl::on_time() {
  for (const RowIndex row : retries.take_due(now)) work.decide(row);
  for (const RowIndex row : stopped_attempts.take_due(now)) work.decide(row);
  for (const RowIndex row : staying.take_due(now)) {
    if (is(row, flag::let_go)) drop_bytes(row);
  }
  if (!recounting()) look_for_leases_over();
}

/// Looks at everything that this event made worth looking at. Ends: each item is caused by a change of a row
/// that happens once, or by an attempt that ended.
void Home::Impl::finish_event() {
  for (;;) {
    if (groups.has_news()) {
      carry_out(groups.take_news(now));
    } else if (const RowIndex held = work.take_to_decide(); held != no_row) {
      if (!recounting()) decide(held);
    } else if (const auto end = work.take_head()) {
      end_head(end->head, end->tail);
    } else if (const auto actor = objects.take_next()) {
      step_actor(*actor);
    } else if (const RowIndex ended = work.take_to_send(); ended != no_row) {
      try_send(ended);
    } else if (const RowIndex unplaced = work.take_to_place(); unplaced != no_row) {
      place_ready(unplaced);
    } else if (const RowIndex next = recounting() ? no_row : starts.take_next(); next != no_row) {
      decide(next);
    } else if (const RowIndex waited = recounting() ? no_row : spawned_parts.take_next(); waited != no_row) {
      if (word(waited).state == RowState::ready) ready(waited);
      decide(waited);
    } else if (const RowIndex call = recounting() ? no_row : borders.take_free(); call != no_row) {
      decide(call);
    } else {
      break;
    }
  }
  if (!recounting()) deny_unended();
  flush();
  for (auto& [life, names] : outputs.take_releases())
    send(life, message::Release{plan->job, options.shard, options.epoch, std::move(names)});
  for (auto& [shard, tasks] : consumed.take_to_tell()) {
    send(home_of(shard),
         message::Consumed{plan->job, shard, state.homes[shard].epoch, options.shard, std::move(tasks)});
  }
}

void Home::Impl::fail_job(Error error) {
  if (over) return;
  over = true;
  failure = std::move(error);
  send(state.cell, message::JobFailed{plan->job, options.shard, options.epoch, *failure});
}

void Home::Impl::record(TaskId task, AttemptId attempt, EventWhat what) {
  sink.record(
      JournalEvent{now, {options.self.process, std::nullopt}, plan->job, task, attempt, std::move(what)});
}

}  // namespace dag
