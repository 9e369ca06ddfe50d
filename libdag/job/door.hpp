#pragma once
// Decides before a process of a job handles a message: does its sender still count, and is it time? The
// decision is made when the message is handled, not when it arrives. Messages that come before the state they
// rely on (a newer JobState, the Assign of a new home) wait here; messages of the dead are dropped.
//
// The waiting ends: a message that waits names a life or an epoch which the cell has given out and tells
// everybody, so the state that it waits for is on its way; or the message's sender dies, and then it is
// dropped. There is no other limit: a sender does not repeat a message that has arrived, so a job would wait
// for a dropped one for ever.

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libdag/job/messages.hpp"

namespace dag {

enum class Admission : std::uint8_t { deliver, wait, drop };

class Door {
 public:
  /// `epoch_here`: of the home of shard s in this process, if there is one:
  /// std::optional<Epoch>(std::uint32_t).
  template <class EpochHere>
  Admission judge(Life from, const JobMessage& message, const message::JobState& state,
                  EpochHere&& epoch_here) const {
    const Recipient recipient = recipient_of(message);
    if (std::holds_alternative<message::JobCreate>(message) ||
        std::holds_alternative<message::JobState>(message)) {
      return Admission::deliver;  // The state itself says which one is the newest.
    }
    if (state.version == 0) return Admission::wait;
    // No home begins any more, and present homes do nothing. Runners say themselves that the job is over.
    const bool for_homes = recipient == Recipient::home || std::holds_alternative<message::Assign>(message);
    if (state.ended && for_homes) return Admission::drop;
    const bool alive = message::is_alive(state, from) || (from == state.cell && only_cells_say(message));
    if (!alive) return seen_.contains(from) || superseded(from, state) ? Admission::drop : Admission::wait;
    const auto named = shard_epoch_of(message);
    if (!named || recipient == Recipient::cell) return Admission::deliver;
    if (named->shard >= state.homes.size()) return Admission::drop;
    const Epoch known = state.homes[named->shard].epoch;
    if (named->epoch > known) return Admission::wait;
    if (named->epoch < known) return Admission::drop;
    if (recipient == Recipient::home && epoch_here(named->shard) != named->epoch) {
      // The Assign is on its way. If the shard is another process's, the sender knows better by now.
      return state.homes[named->shard].home == self_ ? Admission::wait : Admission::drop;
    }
    return Admission::deliver;
  }

  explicit Door(Life self) : self_(self) {}

  void hold(Life from, JobMessage message) { waiting_.emplace_back(from, std::move(message)); }
  /// After each JobState and each new home: all messages that wait are to be judged again, in the order of
  /// arrival.
  std::vector<std::pair<Life, JobMessage>> take_waiting() { return std::exchange(waiting_, {}); }
  void on_state(const message::JobState& state) { seen_.insert(state.lives.begin(), state.lives.end()); }
  std::size_t waiting() const { return waiting_.size(); }
  template <class Visit>
  void each_waiting(Visit&& visit) const {
    for (const auto& [from, message] : waiting_) visit(from, message);
  }

 private:
  /// A life may lead a cell after that cell has found it dead. Its word as leader counts.
  static bool only_cells_say(const JobMessage& message) {
    return std::holds_alternative<message::Assign>(message) ||
           std::holds_alternative<message::Settled>(message) ||
           std::holds_alternative<message::Keep>(message) ||
           std::holds_alternative<message::Cancel>(message) ||
           std::holds_alternative<message::LeaseRenewed>(message);
  }
  static bool superseded(Life from, const message::JobState& state) {
    for (const Life life : state.lives) {
      if (life.process == from.process && life.incarnation > from.incarnation) return true;
    }
    return false;
  }

  Life self_;
  std::set<Life> seen_;
  std::vector<std::pair<Life, JobMessage>> waiting_;
};

}  // namespace dag
