// The life of a task as a table: each state, each event.
#include "libdag/rows/word.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <set>

using namespace dag;

namespace {

Word word(RowState state, std::uint32_t open = 0, std::uint32_t attempt = 3, bool plain = false) {
  Word made;
  made.state = state;
  made.open = open;
  made.attempt = attempt;
  made.plain = plain;
  if (state == RowState::ended) made.outcome = Outcome::finished;
  return made;
}
constexpr RowState all_states[] = {RowState::waiting, RowState::held, RowState::ready,
                                   RowState::running, RowState::lent, RowState::ended};

/// `next` gives this state, and the caller owes this; all else stays as it was, unless `change` says so.
template <class Event>
void expect(const Word& before, Event event, RowState state, Do what, auto&& change) {
  CAPTURE(static_cast<int>(before.state), before.open, before.plain);
  const Next after = next(before, event);
  Word wanted = before;
  wanted.state = state;
  change(wanted);
  CHECK(after.word == wanted);
  CHECK(after.what == what);
}
template <class Event>
void expect(const Word& before, Event event, RowState state, Do what) {
  expect(before, event, state, what, [](Word&) {});
}
/// In all states but those, the event changes nothing.
template <class Event>
void ignored_except(std::set<RowState> states, Event event) {
  for (const RowState state : all_states) {
    if (states.contains(state)) continue;
    for (const bool plain : {false, true}) {
      expect(word(state, state == RowState::waiting ? 2 : 0, 3, plain), event, state, Do::nothing);
    }
  }
}

}  // namespace

TEST_CASE("a word is packed without loss") {
  for (const RowState state : all_states) {
    for (const Outcome outcome :
         {Outcome::none, Outcome::finished, Outcome::failed, Outcome::skipped, Outcome::cancelled}) {
      for (const std::uint32_t open : {0u, 1u, 77u, Word::open_max}) {
        for (const std::uint32_t attempt : {0u, 1u, 99u, Word::attempt_max}) {
          for (const bool plain : {false, true}) {
            const Word made{state, outcome, plain, open, attempt};
            REQUIRE(Word::unpacked(made.packed()) == made);
          }
        }
      }
    }
  }
  CHECK(Word{}.packed() == 0);  // A row of zeroes waits for nothing and has not run.
}

TEST_CASE("packed words change like others") {
  const auto same = [](const Word& word, auto event) {
    const Next after = next(word, event);
    const PackedNext packed = next_packed(word.packed(), event);
    REQUIRE(packed.what == after.what);
    REQUIRE(Word::unpacked(packed.bits) == after.word);
    REQUIRE(packed.bits == after.word.packed());
  };
  const Word last{RowState::waiting, Outcome::none, true, 1, Word::attempt_max};
  CHECK_THROWS(next(last, PredecessorEndedClaiming{}));
  CHECK_THROWS(next_packed(last.packed(), PredecessorEndedClaiming{}));
  for (const RowState state : all_states) {
    for (const Outcome outcome : {Outcome::none, Outcome::finished, Outcome::cancelled}) {
      for (const std::uint32_t open : {0u, 1u, 2u, 77u, Word::open_max}) {
        for (const std::uint32_t attempt : {0u, 1u, 2u, 99u, Word::attempt_max - 1}) {
          for (const bool plain : {false, true}) {
            const Word word{state, outcome, plain, open, attempt};
            if (state != RowState::waiting || open > 0) {  // next() throws.
              same(word, PredecessorEnded{});
              same(word, PredecessorEndedClaiming{});
            }
            same(word, Claimed{});
            for (const std::uint32_t ended : {1u, 2u, 99u}) {
              same(word, AttemptEnded{ended, Outcome::finished});
              same(word, AttemptEnded{ended, Outcome::failed});
            }
          }
        }
      }
    }
  }
  CHECK_THROWS(next_packed(Word{}.packed(), PredecessorEnded{}));
  CHECK_THROWS(next_packed(Word{}.packed(), PredecessorEndedClaiming{}));
}

TEST_CASE("a predecessor ended") {
  for (const bool plain : {false, true}) {
    expect(word(RowState::waiting, 2, 3, plain), PredecessorEnded{}, RowState::waiting, Do::nothing,
           [](Word& after) { after.open = 1; });
  }
  expect(word(RowState::waiting, 1, 3, true), PredecessorEnded{}, RowState::ready, Do::make_ready,
         [](Word& after) {
           after.open = 0;
           after.attempt = 4;
         });
  expect(word(RowState::waiting, 1, 3, false), PredecessorEnded{}, RowState::held, Do::decide,
         [](Word& after) { after.open = 0; });
  ignored_except({RowState::waiting}, PredecessorEnded{});  // Closed before its last edge.
  CHECK_THROWS_AS(next(word(RowState::waiting, 0), PredecessorEnded{}), Bug);
}

TEST_CASE("a predecessor ended, and the lane that says so claims the row if it was the last") {
  expect(word(RowState::waiting, 2, 3, true), PredecessorEndedClaiming{}, RowState::waiting, Do::nothing,
         [](Word& after) { after.open = 1; });
  expect(word(RowState::waiting, 1, 3, true), PredecessorEndedClaiming{}, RowState::running, Do::run,
         [](Word& after) {
           after.open = 0;
           after.attempt = 4;
         });
  expect(word(RowState::waiting, 1, 3, false), PredecessorEndedClaiming{}, RowState::held, Do::decide,
         [](Word& after) { after.open = 0; });
  ignored_except({RowState::waiting}, PredecessorEndedClaiming{});
  CHECK_THROWS_AS(next(word(RowState::waiting, 0), PredecessorEndedClaiming{}), Bug);
}

TEST_CASE("a watched row does not become ready by itself") {
  expect(word(RowState::waiting, 2, 3, true), Watched{}, RowState::waiting, Do::nothing,
         [](Word& after) { after.plain = false; });
  ignored_except({RowState::waiting}, Watched{});
}

TEST_CASE("the home lets a held row run, and gives it a number") {
  expect(word(RowState::held), Released{}, RowState::ready, Do::make_ready,
         [](Word& after) { after.attempt = 4; });
  ignored_except({RowState::held}, Released{});
  CHECK_THROWS_AS(next(word(RowState::held, 1), Released{}), Bug);
  CHECK_THROWS_AS(next(word(RowState::held, 0, Word::attempt_max), Released{}), Bug);
}

TEST_CASE("a lane claims a ready row") {
  expect(word(RowState::ready), Claimed{}, RowState::running, Do::run);
  ignored_except({RowState::ready}, Claimed{});
}

TEST_CASE("a row is lent: a held one as its next attempt, a ready one as the one it has") {
  expect(word(RowState::ready), LentOut{}, RowState::lent, Do::run);
  expect(word(RowState::held), LentOut{}, RowState::lent, Do::run, [](Word& after) { after.attempt = 4; });
  ignored_except({RowState::ready, RowState::held}, LentOut{});
  CHECK_THROWS_AS(next(word(RowState::held, 1), LentOut{}), Bug);
}

TEST_CASE("an attempt is taken back, if it is the newest") {
  for (const RowState state : {RowState::ready, RowState::running, RowState::lent}) {
    expect(word(state), TakenBack{3}, RowState::held, Do::decide);
    expect(word(state), TakenBack{2}, state, Do::nothing);
    expect(word(state), TakenBack{4}, state, Do::nothing);
  }
  ignored_except({RowState::ready, RowState::running, RowState::lent}, TakenBack{3});
}

TEST_CASE("the newest attempt ends the row, once; late reports change nothing") {
  for (const RowState state : {RowState::running, RowState::lent}) {
    for (const Outcome outcome : {Outcome::finished, Outcome::failed}) {
      expect(word(state), AttemptEnded{3, outcome}, RowState::ended, Do::tell,
             [&](Word& after) { after.outcome = outcome; });
    }
    expect(word(state), AttemptEnded{2, Outcome::failed}, state, Do::nothing);
  }
  ignored_except({RowState::running, RowState::lent}, AttemptEnded{3, Outcome::failed});
}

TEST_CASE("the home ends a row from anywhere, once") {
  for (const RowState state : all_states) {
    if (state == RowState::ended) continue;
    expect(word(state, state == RowState::waiting ? 2 : 0), Closed{Outcome::skipped}, RowState::ended,
           Do::tell, [](Word& after) { after.outcome = Outcome::skipped; });
  }
  ignored_except({RowState::waiting, RowState::held, RowState::ready, RowState::running, RowState::lent},
                 Closed{Outcome::skipped});
}

TEST_CASE("a row is counted again from anywhere: its attempts stay numbered, its outcome goes") {
  for (const RowState state : all_states) {
    expect(word(state, state == RowState::waiting ? 2 : 0), Recounted{5}, RowState::waiting, Do::nothing,
           [](Word& after) {
             after.outcome = Outcome::none;
             after.open = 5;
           });
    expect(word(state, state == RowState::waiting ? 2 : 0), Recounted{0}, RowState::held, Do::decide,
           [](Word& after) {
             after.outcome = Outcome::none;
             after.open = 0;
           });
  }
  CHECK_THROWS_AS(next(word(RowState::ended), Recounted{Word::open_max + 1}), Bug);
}

TEST_CASE("of all that may happen at once to a running attempt, one is told") {
  const Word running = word(RowState::running);
  const Next lane = next(running, AttemptEnded{3, Outcome::finished});
  CHECK(lane.what == Do::tell);
  CHECK(next(lane.word, Closed{Outcome::cancelled}).what == Do::nothing);
  CHECK(next(lane.word, TakenBack{3}).what == Do::nothing);
  CHECK(next(lane.word, AttemptEnded{3, Outcome::failed}).what == Do::nothing);
  const Next home = next(running, Closed{Outcome::cancelled});
  CHECK(home.what == Do::tell);
  CHECK(next(home.word, AttemptEnded{3, Outcome::finished}).what == Do::nothing);
}

TEST_CASE("a ghost ends once: a lane's news in two steps, anybody else's in one") {
  const auto arrived = [](Word& after) { after.attempt = 7; };
  expect(word(RowState::waiting, 0, 0), EndArrived{7}, RowState::running, Do::run, arrived);
  ignored_except({RowState::waiting}, EndArrived{7});
  CHECK_THROWS_AS(next(word(RowState::waiting), EndArrived{0}), Bug);
  CHECK_THROWS_AS(next(word(RowState::waiting), EndArrived{Word::attempt_max + 1}), Bug);
  for (const Outcome outcome : {Outcome::finished, Outcome::failed, Outcome::skipped, Outcome::cancelled}) {
    expect(word(RowState::waiting, 0, 0), EndLearnt{outcome}, RowState::ended, Do::tell,
           [&](Word& after) { after.outcome = outcome; });
    ignored_except({RowState::waiting}, EndLearnt{outcome});
  }
}
