#include "actors/client_voice.hpp"

namespace dag {

void ClientVoice::settled(const OutcomeRecord& record, Blob output) const {
  listener_.settled(job_, record.task.index, record.outcome, std::move(output), record.error);
}

std::optional<mail::Bring> ClientVoice::tell(TellClient&& what) {
  if (what.record.outcome != Outcome::finished || !what.record.has_output || what.record.value) {
    Blob value = what.record.value;
    settled(what.record, std::move(value));
    return std::nullopt;
  }
  if (at_rest_) {
    listener_.settled(
        job_, what.record.task.index, what.record.outcome, {},
        Error{ErrorCode::output_released, "the output was released: all tasks that read it have ended",
              "say .keep() where the task is added to the graph, or ask for its output before they end"});
    return std::nullopt;
  }
  const std::uint64_t ticket = ++tickets_;
  awaited_.emplace(ticket, what.record);
  return mail::Bring{ticket, std::move(what.record), std::move(what.holders)};
}

void ClientVoice::on_brought(dag::Brought&& brought) {
  const auto found = awaited_.find(brought.ticket);
  if (found == awaited_.end()) return;
  const OutcomeRecord record = std::move(found->second);
  awaited_.erase(found);
  if (brought.lost) {
    // The task has finished: only its output cannot be had.
    listener_.settled(job_, record.task.index, record.outcome, {}, brought.lost);
  } else {
    settled(record, std::move(brought.bytes));
  }
}

bool ClientVoice::owes_progress(const CellCounts& counts) {
  if (counts.settled == told_) return false;
  return !std::exchange(progress_due_, true);
}

void ClientVoice::tell_progress(const CellCounts* counts) {
  progress_due_ = false;
  if (counts == nullptr) return;
  told_ = counts->settled;
  listener_.progress(job_, *counts);
}

}  // namespace dag
