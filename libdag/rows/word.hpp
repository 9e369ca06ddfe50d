#pragma once
// The life of a task as one 64-bit word, and next(word, event), the only function that changes it. Lanes and
// homes apply it by compare-and-swap: the first one decides and any other is told `nothing`.
//
//                 open == 0, plain                lane claims it            kernel returned
//   waiting ─────────────────────────────▶ ready ────────────────▶ running ────────────────▶ ended(outcome)
//      │  open == 0, not plain               ▲ │                      │ attempt failed or lost
//      └──────────▶ held ────────────────────┘ └─▶ lent ──────────────┴──▶ held (the home decides what next)
//                  (the home decides)               (another process runs it)
//
// The word of a ghost, which stands for a row of another shard (row_table.hpp), only learns of its end:
//
//   waiting ──── a lane has the news ────▶ running ──── its output is in the slot ────▶ ended(finished)
//      └──────── the home has the news ────────────────────────────────────────────────▶ ended(outcome)
//
// Elsewhere: which edges there are (row_table.hpp), and what a held row waits for (home.hpp).

#include <cstdint>

#include "dag/options.hpp"
#include "libdag/base/check.hpp"

namespace dag {

enum class RowState : std::uint8_t {
  waiting,  ///< `open` predecessors have not ended
  held,     ///< its home decides: a join rule, settled inputs, a backoff, an actor's turn, missing inputs
  ready,    ///< any lane may claim it
  running,  ///< a lane of this process runs attempt `attempt`
  lent,     ///< another process has attempt `attempt`
  ended,    ///< `outcome` says how; only a recount after a loss leaves this state
};

/// A row's word. Attempts are counted within one epoch of the home: {epoch, attempt} is the AttemptId.
struct Word {
  static constexpr std::uint32_t open_max = (1u << 24) - 1;
  static constexpr std::uint32_t attempt_max = (1u << 20) - 1;

  RowState state = RowState::waiting;
  Outcome outcome = Outcome::none;
  bool plain = false;         ///< becomes ready by itself: strong edges only, pure, nothing special
  std::uint32_t open = 0;     ///< in-edges that are not satisfied
  std::uint32_t attempt = 0;  ///< the newest attempt issued in this epoch; 0: none yet

  bool operator==(const Word&) const = default;

  static constexpr unsigned attempt_at = 24, state_at = 44, outcome_at = 48, plain_at = 52;

  std::uint64_t packed() const {
    return static_cast<std::uint64_t>(open) | static_cast<std::uint64_t>(attempt) << attempt_at |
           static_cast<std::uint64_t>(state) << state_at | static_cast<std::uint64_t>(outcome) << outcome_at |
           static_cast<std::uint64_t>(plain) << plain_at;
  }
  static Word unpacked(std::uint64_t bits) {
    Word word;
    word.open = static_cast<std::uint32_t>(bits & open_max);
    word.attempt = attempt_in(bits);
    word.state = state_in(bits);
    word.outcome = static_cast<Outcome>(bits >> outcome_at & 0xF);
    word.plain = (bits >> plain_at & 1) != 0;
    return word;
  }
  static std::uint32_t attempt_in(std::uint64_t bits) {
    return static_cast<std::uint32_t>(bits >> attempt_at & attempt_max);
  }
  static RowState state_in(std::uint64_t bits) { return static_cast<RowState>(bits >> state_at & 0xF); }
};

/// The caller's duty after a change.
enum class Do : std::uint8_t {
  nothing,     ///< another thread was faster, or more must happen first
  make_ready,  ///< put the row where lanes find it
  decide,      ///< tell the home: the last edge is satisfied
  run,         ///< run attempt `word.attempt`
  tell,        ///< the row ended: satisfy its out-edges
};

struct Next {
  Word word;
  Do what = Do::nothing;
};

/// An in-edge is satisfied, for the first time. (Edges have no state of their own: the thread that changes
/// the predecessor's word to ended satisfies its edges, and a word changes to ended once; see home.hpp.)
struct PredecessorEnded {};
/// The same by a lane that will run the row at once if this edge was its last: nobody sees it ready. One
/// change of the word instead of two.
struct PredecessorEndedClaiming {};
/// The home wants to decide about this row when its last edge is satisfied, for instance because a
/// predecessor did not finish. Only while an edge is open that the home itself will satisfy, so that no lane
/// makes it ready first.
struct Watched {};
/// The home lets a held row run. Gives it the next attempt number.
struct Released {};
/// A lane claims a ready row.
struct Claimed {};
/// A ready or held row goes to another process, as its next attempt when it was held.
struct LentOut {};
/// The home takes back a row that no lane has claimed, or whose attempt failed, came back or was lost.
struct TakenBack {
  std::uint32_t attempt = 0;
};
/// The attempt ended the task.
struct AttemptEnded {
  std::uint32_t attempt = 0;
  Outcome outcome = Outcome::finished;
};
/// The home ends a task that does not run: skipped, cancelled, given up; or learns its outcome from the
/// record.
struct Closed {
  Outcome outcome = Outcome::cancelled;
};
/// A ghost: a lane has the news that it finished, as this attempt of its home's epoch, and will store the
/// output before it shows the end (AttemptEnded). Other threads with news of it wait for that.
struct EndArrived {
  std::uint32_t attempt = 0;
};
/// A ghost: its end is known otherwise than by a lane.
struct EndLearnt {
  Outcome outcome = Outcome::finished;
};
/// Counted again after a loss, while no lane touches the table's rows.
struct Recounted {
  std::uint32_t open = 0;
};

inline Next next(Word word, PredecessorEnded) {
  if (word.state != RowState::waiting) return {word, Do::nothing};  // Closed before its last edge.
  DAG_CHECK(word.open > 0);
  --word.open;
  if (word.open > 0) return {word, Do::nothing};
  if (!word.plain) {
    word.state = RowState::held;
    return {word, Do::decide};
  }
  DAG_CHECK(word.attempt < Word::attempt_max);
  word.state = RowState::ready;
  ++word.attempt;
  return {word, Do::make_ready};
}

inline Next next(Word word, Watched) {
  if (word.state == RowState::waiting) word.plain = false;
  return {word, Do::nothing};
}

inline Next next(Word word, Released) {
  if (word.state != RowState::held) return {word, Do::nothing};
  DAG_CHECK(word.open == 0 && word.attempt < Word::attempt_max);
  word.state = RowState::ready;
  ++word.attempt;
  return {word, Do::make_ready};
}

inline Next next(Word word, Claimed) {
  if (word.state != RowState::ready) return {word, Do::nothing};
  word.state = RowState::running;
  return {word, Do::run};
}

inline Next next(Word word, PredecessorEndedClaiming) {
  const Next after = next(word, PredecessorEnded{});
  return after.what == Do::make_ready ? next(after.word, Claimed{}) : after;
}

inline Next next(Word word, LentOut) {
  if (word.state == RowState::held) {
    DAG_CHECK(word.open == 0 && word.attempt < Word::attempt_max);
    ++word.attempt;
  } else if (word.state != RowState::ready) {
    return {word, Do::nothing};
  }
  word.state = RowState::lent;
  return {word, Do::run};
}

inline Next next(Word word, TakenBack event) {
  const bool out =
      word.state == RowState::ready || word.state == RowState::running || word.state == RowState::lent;
  if (!out || event.attempt != word.attempt) return {word, Do::nothing};
  word.state = RowState::held;
  return {word, Do::decide};
}

inline Next next(Word word, AttemptEnded event) {
  const bool out = word.state == RowState::running || word.state == RowState::lent;
  if (!out || event.attempt != word.attempt) return {word, Do::nothing};  // A late report changes nothing.
  word.state = RowState::ended;
  word.outcome = event.outcome;
  return {word, Do::tell};
}

inline Next next(Word word, Closed event) {
  if (word.state == RowState::ended) return {word, Do::nothing};
  word.state = RowState::ended;
  word.outcome = event.outcome;
  return {word, Do::tell};
}

inline Next next(Word word, EndArrived event) {
  if (word.state != RowState::waiting) return {word, Do::nothing};
  DAG_CHECK(event.attempt > 0 && event.attempt <= Word::attempt_max);
  word.state = RowState::running;
  word.attempt = event.attempt;
  return {word, Do::run};
}

inline Next next(Word word, EndLearnt event) {
  if (word.state != RowState::waiting) return {word, Do::nothing};
  word.state = RowState::ended;
  word.outcome = event.outcome;
  return {word, Do::tell};
}

inline Next next(Word word, Recounted event) {
  DAG_CHECK(event.open <= Word::open_max);
  word.outcome = Outcome::none;
  word.open = event.open;
  word.state = event.open == 0 ? RowState::held : RowState::waiting;
  return {word, event.open == 0 ? Do::decide : Do::nothing};
}

// ---- The same for packed words

struct PackedNext {
  std::uint64_t bits = 0;
  Do what = Do::nothing;
};

template <class Event>
PackedNext next_of_unpacked(std::uint64_t bits, Event event) {
  const Next after = next(Word::unpacked(bits), event);
  return {after.word.packed(), after.what};
}
template <class Event>
PackedNext next_packed(std::uint64_t bits, Event event) {
  return next_of_unpacked(bits, event);
}
// The changes that lanes make of most rows need not take the word apart. They are those of next() all the
// same, as word_test checks for every kind of word.
inline PackedNext next_packed(std::uint64_t bits, PredecessorEnded event) {
  if (Word::state_in(bits) == RowState::waiting && (bits & Word::open_max) > 1)
    return {bits - 1, Do::nothing};
  return next_of_unpacked(bits, event);
}
inline PackedNext next_packed(std::uint64_t bits, PredecessorEndedClaiming event) {
  constexpr std::uint64_t waiting_for = std::uint64_t{0xF} << Word::state_at | Word::open_max,
                          plain = std::uint64_t{1} << Word::plain_at;
  if ((bits & waiting_for) > 1 && Word::state_in(bits) == RowState::waiting) return {bits - 1, Do::nothing};
  const bool last_edge = (bits & (waiting_for | plain)) == (plain | 1);
  if (last_edge && Word::attempt_in(bits) < Word::attempt_max) {
    constexpr std::uint64_t runs = std::uint64_t{static_cast<unsigned>(RowState::running)} << Word::state_at;
    return {bits - 1 + (std::uint64_t{1} << Word::attempt_at) + runs, Do::run};
  }
  return next_of_unpacked(bits, event);
}
inline PackedNext next_packed(std::uint64_t bits, AttemptEnded event) {
  constexpr std::uint64_t about = std::uint64_t{0xF} << Word::outcome_at |
                                  std::uint64_t{0xF} << Word::state_at |
                                  std::uint64_t{Word::attempt_max} << Word::attempt_at;
  constexpr auto at = [](RowState state) {
    return std::uint64_t{static_cast<unsigned>(state)} << Word::state_at;
  };
  const std::uint64_t attempt = std::uint64_t{event.attempt} << Word::attempt_at;
  if ((bits & about) == (at(RowState::running) | attempt)) {
    return {bits - at(RowState::running) + at(RowState::ended) +
                (std::uint64_t{static_cast<unsigned>(event.outcome)} << Word::outcome_at),
            Do::tell};
  }
  return next_of_unpacked(bits, event);
}

}  // namespace dag
