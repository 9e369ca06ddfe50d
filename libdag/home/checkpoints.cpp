// States that tasks save while they run. A saved state lies with the runner that ran the attempt, like an
// output under a name of its own, and a copy of it with a process of another node; the home knows where. An
// attempt that follows a lost one gets the newest state whose inputs count now: a state that was computed
// from other inputs is of no use, however far it came.
//
// Why they go: of each row the two newest are kept, and none when the row has settled or vanished.

#include <algorithm>

#include "libdag/home/copies.hpp"
#include "libdag/home/home_impl.hpp"

namespace dag {
namespace {

constexpr std::size_t kept_per_row = 2;
/// When copies are slow to come. More are dropped, the oldest first.
constexpr std::size_t kept_per_row_max = 4;

}  // namespace

void Home::Impl::on(Life from, const message::Checkpointed& message) {
  // Also of an attempt that is not the newest any more: a state of the same inputs is as good.
  if (!add_checkpoint(message.record, from)) release(from, message.record.name());
}

/// False: nobody needs it.
bool Home::Impl::add_checkpoint(const OutcomeRecord& record, Life holder) {
  const RowIndex row = table.find(record.task);
  if (row == no_row || table[row].ghost || is(row, flag::vanished | flag::settled) || is_call(row))
    return false;
  if (!table.policy_of(table[row]).checkpoint) return false;
  std::vector<RowCheckpoint>& saved = checkpoints[row];
  const auto at =
      std::lower_bound(saved.begin(), saved.end(), record.attempt,
                       [](const RowCheckpoint& one, AttemptId id) { return one.record.attempt < id; });
  if (at != saved.end() && at->record.attempt == record.attempt) {
    if (std::find(at->holders.begin(), at->holders.end(), holder) == at->holders.end())
      at->holders.push_back(holder);
  } else {
    saved.insert(at, {record, {holder}});
    // News that was for another home was passed on by that home.
    if (!recounting()) {
      say(record.task, record.attempt, [&] { return event::Saved{record.size_bytes, 0}; });
      copy_checkpoint({record, {holder}});
    }
  }
  drop_older(saved);
  return std::any_of(saved.begin(), saved.end(),
                     [&](const RowCheckpoint& one) { return one.record.attempt == record.attempt; });
}

/// A process holds a copy that it was asked to get.
void Home::Impl::checkpoint_held(const OutputName& name, Life holder) {
  const auto found = checkpoints.find(table.find(name.task));
  if (found != checkpoints.end()) {
    for (RowCheckpoint& one : found->second) {
      if (one.record.attempt != name.attempt) continue;
      if (std::find(one.holders.begin(), one.holders.end(), holder) == one.holders.end())
        one.holders.push_back(holder);
      return drop_older(found->second);
    }
  }
  release(holder, name);
}

void Home::Impl::copy_checkpoint(const RowCheckpoint& checkpoint) {
  if (!options.several_processes) return;
  for (const Life life : lacks_copies(state, options.self, checkpoint.holders)) {
    send(life, message::Replicate{
                   plan->job, options.shard, options.epoch, checkpoint.record, checkpoint.holders, {}});
  }
}

void Home::Impl::copy_checkpoints() {
  for (const auto& [row, saved] : checkpoints) {
    for (const RowCheckpoint& one : saved) copy_checkpoint(one);
  }
}

/// The two newest stay, and what is behind them until one of them has its copy.
void Home::Impl::drop_older(std::vector<RowCheckpoint>& saved) {
  const auto safe = [&](const RowCheckpoint& one) {
    return !options.several_processes || lacks_copies(state, options.self, one.holders).empty();
  };
  while (saved.size() > kept_per_row) {
    const bool others_do = std::any_of(saved.end() - kept_per_row, saved.end(), safe);
    if (!others_do && saved.size() <= kept_per_row_max) return;
    for (const Life holder : saved.front().holders) release(holder, saved.front().record.name());
    saved.erase(saved.begin());
  }
}

void Home::Impl::release_checkpoints(RowIndex row) {
  if (checkpoints.empty()) return;
  const auto found = checkpoints.find(row);
  if (found == checkpoints.end()) return;
  for (const RowCheckpoint& one : found->second) {
    for (const Life holder : one.holders) release(holder, one.record.name());
  }
  checkpoints.erase(found);
}

/// The runner that was to start from it has asked all holders.
void Home::Impl::forget_checkpoint(const OutputName& name) {
  const auto found = checkpoints.find(table.find(name.task));
  if (found == checkpoints.end()) return;
  std::erase_if(found->second, [&](const RowCheckpoint& one) { return one.record.attempt == name.attempt; });
}

void Home::Impl::answer_checkpoint(Life asker, const message::Need& need) {
  message::Located located = answer_about(need.name);
  if (const auto found = checkpoints.find(table.find(need.name.task)); found != checkpoints.end()) {
    for (RowCheckpoint& one : found->second) {
      if (one.record.attempt != need.name.attempt) continue;
      for (const Life gone : need.gone) std::erase(one.holders, gone);
      located.record = one.record;
      located.holders = one.holders;
    }
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
  const auto found = checkpoints.find(row);
  if (found == checkpoints.end()) return;
  for (auto one = found->second.rbegin(); one != found->second.rend(); ++one) {
    const bool fits = one->record.inputs == lend.attempt.inputs && names_hold(one->record.inputs);
    if (one->holders.empty() ||
        (!fits && !is_planted(options.planted, PlantedInHome::checkpoint_of_other_inputs)))
      continue;
    lend.wanted.push_back({detail::none, one->record.name(), options.shard, one->holders});
    return say(lend.attempt.task, lend.attempt.id, [] { return event::Restored{}; });
  }
}

/// Processes have gone, and copies with them.
void Home::Impl::checkpoints_lost(const message::JobState& before) {
  const auto gone = static_cast<std::size_t>(
      std::count_if(before.lives.begin(), before.lives.end(), [&](Life life) { return !alive(life); }));
  losses.note(gone, before.lives.size(), now);
  for (auto& [row, saved] : checkpoints) {
    for (RowCheckpoint& one : saved) std::erase_if(one.holders, [&](Life life) { return !alive(life); });
    std::erase_if(saved, [](const RowCheckpoint& one) { return one.holders.empty(); });
  }
  if (!recounting() && (gone > 0 || state.term != before.term)) copy_checkpoints();
}

}  // namespace dag
