#pragma once
// Saves of job actors: when they are made, where they lie, and which of them lost objects come back from.
//
// The saves of one number of all actors of a group are a border. A complete border (all settled, and held by
// processes that the job cannot lose) bounds the cost of a loss, and older saves may go.
//
// A save that the graph asks for holds the calls behind it until then, so that a loss costs no more than the
// work between two of them. A save that may be left out does not: it is made to cost little, and its interval
// limits the work at stake.
//
// Where a graph says that saves may be left out, the home decides once for each border, when the first of the
// group's actors has come there: for all of them, or the border would never be complete. One that is left
// out ends without an attempt and without an output.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libdag/home/actor_calls.hpp"
#include "libdag/home/outputs.hpp"
#include "libdag/supervision/checkpoint_interval.hpp"

namespace dag {

/// Inputs of this many calls of an actor are kept for the case that it must be restored; older ones would
/// have to be made again.
inline constexpr std::size_t retained_calls_max = 4096;

class Borders {
 public:
  /// Outputs up to `inline_bytes_max` are in the record itself.
  Borders(const HomeRows& rows, const ActorCalls& calls, const Outputs& outputs,
          const message::JobState& state, const HomeOptions& options, std::uint64_t inline_bytes_max)
      : rows_(rows),
        calls_(calls),
        outputs_(outputs),
        state_(state),
        options_(options),
        inline_bytes_max_(inline_bytes_max) {}

  /// All actors are known. Times between saves count from `now` on.
  void begin(Instant now);

  // ---- Saves
  /// True if a save that could run now is made, false if it is left out. `lost_after`: how long it takes on
  /// average until a process is lost that an actor of the group lives in.
  bool makes(RowIndex save, Duration lost_after, Instant now);
  void save_began(RowIndex save, Instant now) { actors_[calls_.number_of(save)].save_began = now; }
  /// The next save of its actor has ended, in the order of calls. False: it was left out.
  bool save_ended(RowIndex save);
  /// Like that, and its cost is known.
  bool save_ended(RowIndex save, Instant now);
  /// True if a save that has ended was made and not left out.
  bool is_made(RowIndex save) const;
  /// The ends of the actor's saves are to be counted again.
  void begin_anew(std::uint32_t actor);
  /// Saves that were made, and whose outputs were not let go.
  std::vector<RowIndex> saves_in_use() const;
  message::SavedAs saved_as(RowIndex save) const;
  RowIndex save_at(std::uint32_t actor, std::size_t border) const { return actors_[actor].saves[border - 1]; }

  // ---- Borders, counted from 1
  /// The newest border of the group that its objects can come back from now, before all calls whose outputs
  /// are `wanted`; 0: they come back from the beginning.
  std::size_t choose(std::uint32_t group, const std::set<RowIndex>& wanted) const;
  /// Something that is needed no more when a border is complete.
  struct Behind {
    RowIndex row = no_row;
    bool save = false;  ///< the saved state itself, else the inputs of a call
  };
  struct Complete {
    std::size_t border = 0;
    std::vector<Behind> behind;
  };
  /// Looks for a newer border that is complete.
  std::optional<Complete> advance(std::uint32_t group);
  /// The inputs of the call, which has settled, are kept until a border behind it is complete.
  void retain(RowIndex call) { actors_[calls_.number_of(call)].retained.push_back(call); }
  /// The first of the retained calls of this one's actor, if there are too many; else no_row.
  RowIndex take_retained(RowIndex call);

  // ---- Calls behind a save
  /// True if the call, the next one of its actor, has to wait for the save before it.
  bool holds(RowIndex call) const;
  void await(RowIndex call) { waiting_.insert(call); }
  bool awaits(RowIndex call) const { return waiting_.contains(call); }
  bool any_awaits() const { return !waiting_.empty(); }
  /// A waiting call that need not wait any more; no_row if there is none. The search starts anew at each
  /// event: few calls wait, and many events complete a border or lose it.
  RowIndex take_free();

  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  struct Actor {
    std::vector<RowIndex> saves;    ///< that ended, in order: the border's number is the place + 1
    std::vector<std::size_t> made;  ///< borders of saves that were not left out, ascending
    std::deque<RowIndex> retained;  ///< calls whose inputs are kept
    Instant save_began;             ///< when its last save was dispatched
  };
  struct Group {
    std::size_t complete = 0;  ///< saves before this border were let go
    SaveTimes times;
    std::map<std::size_t, bool> made_at;  ///< by border, if saves may be left out: true if they are made
  };
  bool is_there(std::uint32_t group, std::size_t border) const;
  bool is_complete(std::uint32_t group, std::size_t border) const;
  bool is_open(std::uint32_t group, std::size_t border) const;

  const HomeRows& rows_;
  const ActorCalls& calls_;
  const Outputs& outputs_;
  const message::JobState& state_;
  const HomeOptions& options_;
  const std::uint64_t inline_bytes_max_;
  std::vector<Actor> actors_;  ///< as in calls_
  std::vector<Group> groups_;
  std::set<RowIndex> waiting_;
};

}  // namespace dag
