#pragma once
// States that tasks save while they run: which of them are kept, where they lie, and which one an attempt
// starts from.
//
// The two newest of a row are kept, and older ones until one of these has its copies; none is kept
// when the row has settled or vanished.

#include <map>
#include <vector>

#include "libdag/home/outputs.hpp"

namespace dag {

/// A state that an attempt of a row saved.
struct RowCheckpoint {
  OutcomeRecord record;
  std::vector<Life> holders;
};

class Checkpoints {
 public:
  /// Uses `outputs` for releases only.
  Checkpoints(const HomeRows& rows, Outputs& outputs, const message::JobState& state,
              const HomeOptions& options)
      : rows_(rows), outputs_(outputs), state_(state), options_(options) {}

  struct Added {
    bool is_new = false;
    bool is_kept = false;  ///< else the holder's bytes are of no use
  };
  /// A process holds a saved state. It may be of an attempt that is not the newest any more: a state of the
  /// same inputs is as good.
  Added add(const OutcomeRecord& record, Life holder);
  /// A process holds a copy that it was asked to get. It is released if the state is not known.
  void copy_made(const OutputName& name, Life holder);
  /// The runner that was to start from it has asked all holders.
  void forget(const OutputName& name);
  /// The row needs no saved state any more.
  void release_all(RowIndex row);
  /// The state has other lives: those that are gone hold nothing.
  void lives_changed();
  /// A runner has asked these, and they do not hold it. nullptr: it is not known.
  const RowCheckpoint* found_gone(const OutputName& name, const std::vector<Life>& gone);

  /// The newest with a holder for an attempt with these inputs: a state that was computed from other inputs
  /// is of no use, however far it came. nullptr: there is none.
  const RowCheckpoint* newest_for(RowIndex row, const std::vector<OutputName>& inputs) const;
  /// The lives that have to get a copy.
  std::vector<Life> lacks_copies_of(const RowCheckpoint& checkpoint) const;
  /// By row, oldest first.
  const std::map<RowIndex, std::vector<RowCheckpoint>>& all() const { return saved_; }

  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  bool may_be_kept(RowIndex row) const;
  RowCheckpoint* find(const OutputName& name);
  void drop_older(std::vector<RowCheckpoint>& saved);

  const HomeRows& rows_;
  Outputs& outputs_;
  const message::JobState& state_;
  const HomeOptions& options_;
  std::map<RowIndex, std::vector<RowCheckpoint>> saved_;  ///< by attempt, ascending
};

}  // namespace dag
