// States that tasks save while they run, as the home sees to them. A saved state lies with the runner that
// ran the attempt, like an output under a name of its own, and a copy of it with a process of another node.
// An attempt that follows a lost one gets the newest state whose inputs count now. `Checkpoints` knows which
// states there are; this file asks for copies, answers questions, and gives states to attempts.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {

void Home::Impl::on(Life from, const message::Checkpointed& message) {
  if (!add_checkpoint(message.record, from)) release(from, message.record.name());
}

/// False: nobody needs it.
bool Home::Impl::add_checkpoint(const OutcomeRecord& record, Life holder) {
  const Checkpoints::Added added = checkpoints.add(record, holder);
  // News that was for another home was passed on by that home.
  if (added.is_new && !recounting()) {
    say(record.task, record.attempt, [&] { return event::Saved{record.size_bytes, 0}; });
    copy_checkpoint({record, {holder}});
  }
  return added.is_kept;
}

void Home::Impl::copy_checkpoint(const RowCheckpoint& checkpoint) {
  for (const Life life : checkpoints.lacks_copies_of(checkpoint)) {
    send(life, message::Replicate{
                   plan->job, options.shard, options.epoch, checkpoint.record, checkpoint.holders, {}});
  }
}

void Home::Impl::copy_checkpoints() {
  for (const auto& [row, saved] : checkpoints.all()) {
    for (const RowCheckpoint& one : saved) copy_checkpoint(one);
  }
}

void Home::Impl::answer_checkpoint(Life asker, const message::Need& need) {
  message::Located located = answer_about(need.name);
  if (const RowCheckpoint* known = checkpoints.found_gone(need.name, need.gone); known != nullptr) {
    located.record = known->record;
    located.holders = known->holders;
  }
  if (located.holders.empty())
    located.lost = Error{ErrorCode::output_lost, "what the task had saved is not there any more"};
  send(asker, std::move(located));
}

/// The attempt may save its state, and starts from the newest that was saved, if any is of use.
void Home::Impl::give_checkpoint(RowIndex row, const Policy& policy, std::uint32_t word_attempt,
                                 message::Lend& lend) {
  if (word_attempt >= checkpoint_numbers / checkpoints_per_attempt) return;  // There are no names left.
  lend.attempt.checkpoints = {checkpoint_numbers + word_attempt * checkpoints_per_attempt, *policy.checkpoint,
                              losses.mean_time(now, places.size())};
  const RowCheckpoint* const newest = checkpoints.newest_for(row, lend.attempt.inputs);
  if (newest == nullptr) return;
  lend.wanted.push_back({detail::none, newest->record.name(), options.shard, newest->holders});
  say(lend.attempt.task, lend.attempt.id, [] { return event::Restored{}; });
}

/// Processes have gone, and copies with them.
void Home::Impl::checkpoints_lost(const message::JobState& before) {
  const auto gone = static_cast<std::size_t>(
      std::count_if(before.lives.begin(), before.lives.end(), [&](Life life) { return !alive(life); }));
  losses.note(gone, before.lives.size(), now);
  checkpoints.lives_changed();
  if (!recounting() && (gone > 0 || state.term != before.term)) copy_checkpoints();
}

}  // namespace dag
