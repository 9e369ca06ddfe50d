// In which order and when the cell is told of outcomes.
#include "libdag/home/ledger.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant at(Duration time) { return Instant{time}; }

/// News of the cell, which has so much of this home.
message::Settled settled(std::uint64_t from, std::uint64_t to, std::uint64_t outcomes, std::uint64_t steps) {
  message::Settled message;
  message.from = from;
  message.to = to;
  message.outcomes = outcomes;
  message.steps = steps;
  return message;
}

struct Told : Ledger {
  Told() : Ledger(50ms, PlantedInHome::nothing) { add_rows(1000); }
  void row(RowIndex row) { put({row, false}, 32, nullptr); }
  void needy(RowIndex row, std::vector<OutputName> needs) { put({row, false}, 32, &needs); }
  /// All rows that one message of the cell settles.
  std::vector<RowIndex> hear(const message::Settled& message) {
    std::vector<RowIndex> rows;
    add(message);
    while (const auto next = take_next()) {
      steps_settled(next->steps, [&](const Step& step) {
        for (const Entry entry : step.entries) rows.push_back(entry.row);
        for (const RowWord some : step.finished) some.each([&](RowIndex row) { rows.push_back(row); });
      });
      settled = take_settled();
    }
    check_invariants();
    return rows;
  }
  std::vector<RowIndex> settled;  ///< rows that awaited what the cell settled last
};

OutputName first_try(std::uint32_t task) { return {TaskId{0, task}, AttemptId{{1, 1}, 1}}; }
OutputName second_try(std::uint32_t task) { return {TaskId{0, task}, AttemptId{{1, 1}, 2}}; }

}  // namespace

TEST_CASE("a cut leaves after its interval, at once when something waits for it, and never two at a time") {
  Told ledger;
  CHECK_FALSE(ledger.leaves_at(at(1s), false));
  ledger.row(1);
  CHECK(ledger.leaves_at(at(10ms), false) == at(50ms));
  CHECK(ledger.leaves_at(at(10ms), true) == at(10ms));
  ledger.press();
  CHECK(ledger.leaves_at(at(10ms), false) == at(10ms));
  const Ledger::Leaving left = ledger.leave(at(10ms));
  CHECK(left.number == 1);
  REQUIRE(left.steps.size() == 1);
  CHECK(left.steps[0].rows == 1);
  CHECK(ledger.rows_open() == 999);
  ledger.row(2);
  ledger.press();
  CHECK_FALSE(ledger.leaves_at(at(10s), true));
  CHECK(ledger.hear(settled(0, 1, 1, 1)) == std::vector<RowIndex>{1});
  CHECK(ledger.leaves_at(at(10s), false) == at(10s));
}

TEST_CASE("the cell hears of a home even when no row can end, once") {
  Told ledger;
  ledger.greet();
  CHECK(ledger.leaves_at(at(1s), false) == at(1s));
  CHECK(ledger.leave(at(1s)).steps.empty());
  ledger.greet();
  CHECK(ledger.hear(settled(0, 1, 1, 0)).empty());
  CHECK_FALSE(ledger.leaves_at(at(2s), false));
}

TEST_CASE("rows without needs do not wait for rows with needs, and those not for too many") {
  Told ledger;
  ledger.row(1);
  ledger.needy(2, {first_try(100)});
  ledger.needy(3, {first_try(101), second_try(102)});
  for (RowIndex row = 4; row < 40; ++row) ledger.needy(row, {first_try(103)});
  ledger.check_invariants();
  const Ledger::Leaving left = ledger.leave(at(1s));
  REQUIRE(left.steps.size() == 3);
  CHECK(left.steps[0].rows == 1);
  CHECK(left.steps[0].needs_first == 0);
  CHECK(left.steps[1].rows == 32);
  CHECK(left.needs == std::vector{second_try(102)});
  CHECK(left.steps[2].rows == 6);
  CHECK(ledger.step(left.first_step).entries[0].row == 1);
}

TEST_CASE("what rests on withdrawn rows is taken back with all that was told after it") {
  Told ledger;
  ledger.row(1);
  ledger.needy(2, {first_try(100)});
  ledger.row(3);
  ledger.leave(at(1s));
  ledger.row(4);
  std::vector<RowIndex> back;
  for (const Ledger::Entry entry : ledger.withdraw({2})) back.push_back(entry.row);
  CHECK(back == std::vector<RowIndex>{2, 3, 4});
  ledger.check_invariants();
  CHECK(ledger.rows_open() == 999);
  CHECK(ledger.hear(settled(0, 1, 1, 1)) == std::vector<RowIndex>{1});
  CHECK(ledger.leaves_at(at(1s), false) == at(1s));  // Although there is nothing new to say.
  CHECK(ledger.leave(at(1s)).first_step == 1);
}

TEST_CASE("news of the cell counts once and in the order of the record, however it comes") {
  Told ledger;
  ledger.row(1);
  ledger.needy(2, {first_try(100)});
  ledger.leave(at(1s));
  CHECK(ledger.hear(settled(1, 2, 1, 2)).empty());
  CHECK(ledger.hear(settled(0, 1, 1, 1)) == std::vector<RowIndex>{1, 2});
  CHECK(ledger.hear(settled(0, 1, 1, 1)).empty());
  CHECK(ledger.hear(settled(0, 2, 1, 2)).empty());  // A new leader says all again.
}

TEST_CASE("a row awaits that its tries or its start are settled") {
  Told ledger;
  ledger.put_tried(1, {TaskId{0, 1}, 2});
  ledger.put_started(2, TaskId{0, 2});
  CHECK(ledger.awaits_settling(1));
  const Ledger::Leaving left = ledger.leave(at(1s));
  CHECK(left.tried.size() == 1);
  CHECK(left.started == std::vector{TaskId{0, 2}});
  ledger.put_tried(1, {TaskId{0, 1}, 3});  // The task failed again meanwhile.
  CHECK(ledger.hear(settled(0, 1, 1, 0)).empty());
  CHECK(ledger.settled == std::vector<RowIndex>{2});
  CHECK(ledger.awaits_settling(1));
}

TEST_CASE("the cell drops bytes when what was told before is settled") {
  Told ledger;
  ledger.row(1);
  ledger.leave(at(1s));
  ledger.free_later(TaskId{0, 7});
  CHECK_FALSE(ledger.leaves_at(at(1s), true));
  ledger.hear(settled(0, 1, 1, 1));
  CHECK(ledger.leave(at(2s)).freed == std::vector{TaskId{0, 7}});
}

TEST_CASE("bytes that are freed because a step is settled wait for the steps after it as well") {
  Told ledger;
  ledger.row(1);
  ledger.needy(2, {first_try(100)});
  ledger.leave(at(1s));
  ledger.add(settled(0, 1, 1, 1));
  ledger.take_next();
  ledger.steps_settled(1, [&](const auto&) { ledger.free_later(TaskId{0, 7}); });
  CHECK_FALSE(ledger.leaves_at(at(2s), true));
  ledger.hear(settled(1, 2, 1, 2));
  CHECK(ledger.leave(at(3s)).freed == std::vector{TaskId{0, 7}});
}

TEST_CASE("a new leader hears again the last that was not answered") {
  Told ledger;
  ledger.row(1);
  message::Outcomes outcomes;
  outcomes.number = ledger.leave(at(1s)).number;
  ledger.keep(outcomes);
  REQUIRE(ledger.unanswered() != nullptr);
  CHECK(ledger.unanswered()->number == 1);
  ledger.hear(settled(0, 1, 1, 1));
  CHECK(ledger.unanswered() == nullptr);
}

TEST_CASE("rows that only finished are told and settled as words, each with its step") {
  Told ledger;
  const auto finished = [&](RowIndex row) { ledger.put_finished(row, 0); };
  finished(65);
  finished(3);
  finished(64);
  CHECK(ledger.leaves_at(at(10ms), false) == at(50ms));
  ledger.needy(2, {first_try(100)});
  finished(66);  // Not settled before row 2, which it may rest on.
  ledger.check_invariants();
  const Ledger::Leaving left = ledger.leave(at(1s));
  REQUIRE(left.steps.size() == 2);
  CHECK(left.steps[0].rows == 3);
  CHECK(left.steps[1].rows == 2);
  CHECK(ledger.step(0).finished == std::vector<RowWord>{{1, 3}, {0, 8}});
  CHECK(ledger.step(1).finished == std::vector<RowWord>{{1, 4}});
  CHECK(ledger.rows_open() == 995);
  finished(67);  // Row 66, of the same word, has left.
  CHECK(ledger.hear(settled(0, 1, 1, 1)) == std::vector<RowIndex>{64, 65, 3});
  std::vector<RowIndex> back;
  for (const Ledger::Entry entry : ledger.withdraw({66})) back.push_back(entry.row);
  CHECK(back == std::vector<RowIndex>{2, 66, 67});
  ledger.check_invariants();
  CHECK(ledger.rows_open() == 997);
}

TEST_CASE("the last rows leave at once, and so does a cut that is full") {
  Ledger small(50ms, PlantedInHome::nothing);
  small.add_rows(200'000);
  for (RowIndex row = 0; row < 65536; ++row) small.put_finished(row, 0);
  CHECK(small.leaves_at(at(1ms), false) == at(50ms));
  small.put_finished(65536, 0);
  CHECK(small.leaves_at(at(1ms), false) == at(1ms));
  CHECK(small.leave(at(1ms)).steps.at(0).rows == 65536);
  small.check_invariants();
  Ledger last(50ms, PlantedInHome::nothing);
  last.add_rows(2);
  last.put_finished(0, 0);
  CHECK(last.leaves_at(at(1ms), false) == at(50ms));
  last.put_finished(1, 0);
  CHECK(last.leaves_at(at(1ms), false) == at(1ms));
}
