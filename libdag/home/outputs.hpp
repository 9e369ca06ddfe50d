#pragma once
// Where outputs lie: the processes that have the bytes of a row, the runner that keeps its record, the copies
// that are being made, and the releases that are to be sent.
//
// Bytes in the slot of a row lie in this process; all others lie with holders. A holder keeps bytes, and a
// keeper keeps the record of an attempt, until the home releases them.

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "libdag/home/home_rows.hpp"
#include "libdag/job/messages.hpp"

namespace dag {

class Outputs {
 public:
  using Releases = std::map<Life, std::vector<OutputName>>;

  Outputs(const HomeRows& rows, const message::JobState& state, Life self)
      : rows_(rows), state_(state), self_(self) {}

  // ---- Holders
  /// As the home was told, beside the slot. Some may be lost.
  const std::vector<Life>& told_holders(RowIndex row) const;
  /// The lives that have the bytes of the row's own name: first this one, if they lie in the slot. (The
  /// runner here does not offer them yet, perhaps: Home::Impl::holders_of.)
  std::vector<Life> holders(RowIndex row) const;
  bool available(RowIndex row) const;
  /// Adds it once.
  void add_holder(RowIndex row, Life holder);
  /// False: it was none.
  bool drop_holder(RowIndex row, Life holder);
  void set_holders(RowIndex row, std::vector<Life> holders);

  // ---- Keepers
  /// The runner keeps the record of the row's attempt until that is released.
  void set_keeper(RowIndex row, Life keeper) { places_[row].keeper = keeper; }
  std::optional<Life> take_keeper(RowIndex row);
  /// The keeper is told to release the record, if there is one.
  void release_keeper(RowIndex row, const OutputName& name);
  /// The row has settled: the record is needed no more, but bytes may be.
  void record_settled(RowIndex row, const OutputName& name);

  // ---- Releases
  /// The bytes or the record with that life may go. It is told when the event is over.
  void release(Life at, const OutputName& name);
  /// All holders and the keeper of the row are told, and forgotten.
  void release_all(RowIndex row, const OutputName& name);
  Releases take_releases();

  // ---- Copies of outputs that cannot be made again
  /// The row needs a copy at that life; nothing: it has its copies. True: the life has to be asked for it.
  bool await_copy(RowIndex row, std::optional<Life> at);
  bool awaits_copy(RowIndex row) const;
  /// False: another life was asked, or none.
  bool copy_made(RowIndex row, Life at);
  /// Rows that were told of to await_copy(): they have copies, or need one.
  std::vector<RowIndex> rows_with_copies() const;
  void forget_copy(RowIndex row) { copies_.erase(row); }

  /// The state has other lives: those that are gone hold, keep and copy nothing.
  void lives_changed();
  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  struct Places {
    std::vector<Life> holders;
    std::optional<Life> keeper;
  };
  using ByRow = std::unordered_map<RowIndex, Places>;
  bool alive(Life life) const { return message::is_alive(state_, life); }
  /// Most rows have none: their bytes lie in the slot, or are gone.
  void drop_if_empty(ByRow::iterator at) {
    if (at->second.holders.empty() && !at->second.keeper) places_.erase(at);
  }

  const HomeRows& rows_;
  const message::JobState& state_;
  const Life self_;
  ByRow places_;
  std::map<RowIndex, std::optional<Life>> copies_;  ///< with the life that was asked to make one
  Releases releases_;
};

}  // namespace dag
