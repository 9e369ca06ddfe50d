#pragma once
// Facts that a home remembers of rows and attempts, and the limits that it keeps. Plain values.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libdag/base/spawned.hpp"
#include "libdag/home/home.hpp"

namespace dag {

/// Attempts without a word (closings, remaking of lost outputs) are numbered above the word's attempts, so
/// that no number is given twice.
inline constexpr std::uint32_t uncounted_attempts = Word::attempt_max + 1;
/// Their limit in one epoch: above lie the numbers of saved states.
inline constexpr std::uint32_t uncounted_max = checkpoint_numbers - uncounted_attempts;
/// Literals of this size and above that a task hands on are sent to the cell only once.
inline constexpr std::size_t literal_bytes_left_out = 64;
/// Weight in a cut of a row that is most likely only named.
inline constexpr std::size_t name_bytes = 32;

/// Some are kept in sets of rows instead of notes (home_rows.hpp); HomeRows::is() knows which.
namespace flag {
enum : std::uint32_t {
  noted = 1,   ///< its end was seen and its edges are satisfied
  parked = 2,  ///< its outcome waits for others before it may be sent
  sent = 4,    ///< its outcome is in a cut: final, unless that is withdrawn
  settled = 8,
  kept = row_flag::kept,  ///< a client may ask: never let go
  /// The row has only strong edges, none from it leads to a row with effects, and it was not spawned: when a
  /// lane has ended it, and has told the other shards, its end only has to be noted.
  lean = row_flag::lean,
  /// Its outcome is sent to the cell at once: a row of another shard waits for it to settle, or it is a save.
  presses = row_flag::presses,
  elsewhere = row_flag::elsewhere,  ///< it has predecessors in other shards
  grown_sent = 256,
  grown_settled = 512,
  published = 2048,    ///< the runner here serves its output
  consumed = 4096,     ///< ghosts: its home was told that nothing here needs it
  retained = 8192,     ///< a call whose inputs are kept for a rollback
  known = 16384,       ///< there is a Fact about it
  let_go = 32768,      ///< its output was given up, nobody should need it
  wanted = 65536,      ///< a client has asked
  left = 131072,       ///< the cut that it is in has left, or is settled
  vanished = 262144,   ///< spawned by an attempt that lost: does not exist any more
  by_order = 524288,   ///< a client cancelled it, or its group gave up: the end rests on nothing
  denied = 1048576,    ///< others were told that it has not ended after all
  member = 2097152,    ///< of a group
  grown = 8388608,     ///< its attempt is fixed, and it becomes another task
  lingers = 16777216,  ///< no task will read it; it stays while there is room
  all = (1u << 28) - 1,
  in_sets = noted | sent | settled | left,
};
}  // namespace flag

/// The reason why a held row does not start. Home::Impl::decide() finds it each time that it looks at the
/// row.
enum class HeldFor : std::uint32_t {
  nothing,  ///< no reason, or decide() has not looked at the row since it is held
  pause,    ///< between two tries
  failure_settled,
  start_settled,  ///< the row may run only once, or not twice at a time
  slot,           ///< fewer such rows must be started and not ended
  lease,          ///< it may still run at a process that was lost
  stopped_attempt,
  credit,          ///< spawned tasks are too far ahead of the record
  save_settled,    ///< the save before the call, with its copies
  group,           ///< another member of its group is to be tried again
  settled_inputs,  ///< also the spawning of the row
  actors_turn,     ///< another call is before it, or its object is not there
};

struct Note {
  /// Edges to rows here, other shards, and aliases that may still read the output.
  std::uint32_t consumers = 0;
  std::uint32_t flags : 28 = 0;
  HeldFor held_for : 4 = HeldFor::nothing;  ///< of no meaning unless the row is held
};
static_assert(sizeof(Note) == 8);  // Each row has one.

/// Facts of a row beyond its word: kept for ghosts, and for every row that did not simply finish on a lane
/// here.
struct Fact {
  AttemptId attempt;
  std::uint64_t digest = 0;
  std::uint64_t size_bytes = 0;
  bool has_output = false;
  std::vector<bool> conditions;  ///< own, then inherited
  AttemptId grown_attempt;  ///< the attempt that is fixed, when it became another; `attempt` names the end
  std::vector<OutputName> named;  ///< ghosts: the inputs that their record names
  std::optional<Error> error;
  RowIndex owner = no_row;  ///< the row whose output this row's is, when it became another
  RowIndex becomes = no_row;
  RowIndex head = no_row;               ///< the row that became this one
  std::uint32_t part = detail::none;    ///< the part that its attempt spawned
  bool grew = false;                    ///< ghosts: the value of OutcomeRecord::grew
  std::vector<detail::Code> inherited;  ///< predicates of rows that became this one
  // Ghosts: the newest news, so that older news is recognised.
  Epoch from_epoch;
  std::uint64_t change = 0;
};

/// An attempt that this home dispatched.
struct OutAttempt {
  Life runner;
  AttemptId id;
  std::uint32_t word_attempt = 0;
  bool direct = false;  ///< by StartAttempt rather than Lend
};

/// A run that makes the output of an ended row again, or an actor's object.
struct Again {
  std::optional<OutAttempt> out;
  std::uint32_t failures = 0;
};

/// Places of a row that may not run anywhere. `here` is asked what it would choose; `barred` is the reason
/// against all other places.
struct FewPlaces {
  std::vector<Life> lives;
  Life here;
  std::string barred;
};

/// Rows to undo: their end does not count, or they would not exist.
struct Undone {
  std::set<RowIndex> anew;      ///< to be run again
  std::set<RowIndex> reopened;  ///< became an undone row, so they have not ended after all
  std::set<RowIndex> vanished;
  /// Ended by order, after having become a task that does not count now.
  std::set<RowIndex> outgrown;
};

}  // namespace dag
