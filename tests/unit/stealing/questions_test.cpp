// Sharing of work among askers: the askers that get some, and how much.
#include "libdag/stealing/questions.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "libdag/stealing/thief.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{10s};
Life life(std::uint32_t process) { return {ProcessId{process}, {1}}; }

std::uint32_t given(std::uint32_t lanes, std::uint32_t rows, std::optional<Duration> mean_run) {
  return rows_to_give(lanes, {.rows = rows, .mean_run = mean_run}, 200us);
}

}  // namespace

TEST_CASE("a question waits for work while it is open, the oldest first") {
  OpenQuestions questions;
  CHECK(questions.empty());
  questions.ask(life(1), 2, start);
  questions.ask(life(2), 1, start + 1ms);
  REQUIRE(questions.next(start + 2ms));
  CHECK(questions.next(start + 2ms)->thief == life(1));
  SECTION("until it is answered") {
    questions.close(life(1));
    CHECK(questions.next(start + 2ms)->thief == life(2));
  }
  SECTION("until the thief has given it up") {
    CHECK(questions.next(start + question_open_for)->thief == life(2));
    CHECK_FALSE(questions.next(start + 1ms + question_open_for));
    CHECK(questions.empty());
  }
  SECTION("a newer one takes its place, behind the others") {
    questions.ask(life(1), 5, start + 3ms);
    CHECK(questions.next(start + 3ms)->thief == life(2));
    questions.close(life(2));
    CHECK(questions.next(start + 3ms) == OpenQuestions::Question{life(1), 5, start + 3ms});
  }
  SECTION("who has no idle lane any more takes it back") {
    questions.ask(life(1), 0, start + 3ms);
    CHECK(questions.next(start + 3ms)->thief == life(2));
  }
}

TEST_CASE("thieves without number cost a bounded memory") {
  OpenQuestions questions;
  for (std::uint32_t thief = 0; thief <= OpenQuestions::thieves_max; ++thief) {
    questions.ask(life(thief), 1, start);
  }
  CHECK(questions.next(start)->thief == life(1));
}

TEST_CASE("as long as nobody knows how long rows take, a question waits for that, but not for long") {
  const OpenQuestions::Question question{life(1), 1, start};
  const Waiting unknown{.rows = 5}, known{.rows = 5, .mean_run = 1s};
  CHECK(knows_more_at(question, unknown, start) == start + 1ms);
  CHECK_FALSE(knows_more_at(question, unknown, start + 1ms));
  CHECK_FALSE(knows_more_at(question, known, start));
}

TEST_CASE("a thief gets for each lane what runs for a while, and never more than half") {
  CHECK(given(1, 1000, 100us) == 100);
  CHECK(given(2, 1000, 100us) == 200);
  CHECK(given(1, 1000, 50us) == 128);
  CHECK(given(1, 1000, 5000us) == 2);
  CHECK(given(4, 1000, std::chrono::hours(1)) == 4);
  CHECK(given(1, 1000, std::nullopt) == 1);
  CHECK(given(2, 21, 100us) == 11);
  CHECK(given(1, 1, 1s) == 1);
  CHECK(given(2, 1, 1s) == 1);
  CHECK(given(2, 0, 100us) == 0);
}

TEST_CASE("what our own lanes are through with before the thief could begin stays") {
  CHECK(given(1, 8, 100us) == 0);
  CHECK(given(1, 9, 100us) == 5);
  CHECK(given(1, 1, 800us) == 0);
  CHECK(given(1, 1, 801us) == 1);
  SECTION("and what is over sooner than it is lent") {
    CHECK(given(1, 1000, 49us) == 0);
    CHECK(given(1, 1000, Duration{0}) == 0);
  }
  CHECK(rows_to_give(1, {.rows = 128, .lanes = 16, .mean_run = 100us}, 200us) == 0);
  CHECK(rows_to_give(1, {.rows = 129, .lanes = 16, .mean_run = 100us}, 200us) == 65);
  SECTION("and what a lane is about to take") {
    CHECK(rows_to_give(4, {.rows = 3, .lanes = 4, .lanes_free = 3, .mean_run = 1s}, 200us) == 0);
    CHECK(rows_to_give(4, {.rows = 4, .lanes = 4, .lanes_free = 3, .mean_run = 1s}, 200us) == 1);
  }
}

TEST_CASE("rows behind stragglers are lent, however short their like are") {
  const auto given_behind = [](std::vector<Duration> running) {
    const Waiting here{.rows = 3, .lanes = 2, .mean_run = 5us};
    return rows_to_give(1, behind(here, running), 200us);
  };
  CHECK(given_behind({}) == 0);
  CHECK(given_behind({10s, 10us}) == 0);  // A lane will be free soon.
  CHECK(given_behind({10s, 5s}) == 1);
  CHECK(given_behind({10s}) == 0);  // The other one looks for work.
  CHECK(all_busy_for(2, std::vector<Duration>{10s, 5s}) == 5s);
  CHECK(all_busy_for(2, std::vector<Duration>{10s}) == 0s);
  CHECK_FALSE(behind({.rows = 3, .lanes = 1}, std::vector<Duration>{10s}).mean_run);
}
