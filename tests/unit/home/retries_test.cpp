// How many tries a row has, and when the next one may begin.
#include "libdag/home/retries.hpp"

#include "libdag/supervision/blame.hpp"
#include "tests/unit/home/rows_of.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;

namespace {

const Error broke{ErrorCode::task_failed, "broke"};

/// A row with three tries, a second apart, and one with a single try and no pause.
struct Tried {
  /// The row crashed so many processes, by the cell's count.
  void crashed(RowIndex row, std::uint32_t times) {
    message::Crashed one;
    one.task = rows.table.id(row);
    one.times = times;
    state.crashed = {one};
  }
  bool fails(RowIndex row) {
    const NextTry next = retries.on_failed(row, broke, random);
    retries.check_invariants();
    return std::holds_alternative<GiveUp>(next);
  }
  static detail::Fragment graph() {
    Names names;
    names.attempts(names.task("three"), 3, 1s);
    names.attempts(names.task("single"), 1);
    return names.builder.sealed();
  }
  static constexpr RowIndex three = 0, single = 1;
  RowsOf rows{graph()};
  message::JobState state;
  std::vector<Life> places;
  JobPlan plan;
  Random random{1};
  Crashes crashes{rows.rows, state, places, plan};
  Retries retries{rows.rows, crashes, false};
};

constexpr RowIndex three = Tried::three, single = Tried::single;

}  // namespace

TEST_CASE("a row fails for good when its tries are used up") {
  Tried some;
  CHECK_FALSE(some.retries.any(three));
  CHECK_FALSE(some.fails(three));
  CHECK_FALSE(some.fails(three));
  CHECK(some.fails(three));
  CHECK(some.retries.failed(three) == 3);
  CHECK(some.fails(single));
}

TEST_CASE("the newest failure that another try followed is remembered") {
  Tried some;
  CHECK(some.retries.newest_failure(three) == nullptr);
  some.fails(three);
  REQUIRE(some.retries.newest_failure(three) != nullptr);
  CHECK(some.retries.newest_failure(three)->what == broke.what);
  some.fails(single);  // For good: the row has the error.
  CHECK(some.retries.newest_failure(single) == nullptr);
}

TEST_CASE("tries that crashed are charged like those that failed") {
  Tried some;
  some.crashed(three, 1);
  CHECK_FALSE(some.retries.any(three));
  CHECK(some.retries.charged(three) == 1);
  CHECK_FALSE(some.retries.crashed_too_often(three));
  CHECK_FALSE(some.fails(three));
  CHECK(some.retries.charged(three) == 2);
  CHECK(some.fails(three));
  CHECK(some.retries.failed(three) == 2);
  CHECK(some.retries.crashed_too_often(three));
  CHECK_FALSE(some.retries.crashed_too_often(single));  // Only the other one crashed.
}

TEST_CASE("where dead processes are not replaced, the second crash is the last") {
  Tried some;
  Retries strict(some.rows.rows, some.crashes, true);
  some.crashed(three, 1);
  CHECK_FALSE(strict.crashed_too_often(three));
  some.crashed(three, 2);
  CHECK(strict.crashed_too_often(three));
  CHECK_FALSE(some.retries.crashed_too_often(three));
}

TEST_CASE("a member of a group has the tries that its group gives it, unless it says how many") {
  Tried some;
  for (const RowIndex row : {three, single}) some.rows.rows.set(row, flag::member);
  for (std::uint32_t n = 0; n < 5; ++n) CHECK_FALSE(some.fails(single));
  some.fails(three);
  some.fails(three);
  CHECK(some.fails(three));
}

TEST_CASE("losses are not charged, and are tolerated up to a limit") {
  Tried some;
  for (std::uint32_t n = 0; n < losses_max; ++n) REQUIRE(some.retries.on_lost(single, some.random));
  CHECK(some.retries.any(single));
  CHECK(some.retries.charged(single) == 0);
  CHECK_FALSE(some.retries.on_lost(single, some.random));
}

TEST_CASE("tries of an earlier home count, and those on inputs that do not count are forgotten") {
  Tried some;
  some.retries.recorded(three, 2);
  CHECK(some.retries.charged(three) == 2);
  CHECK(some.retries.forget_failed(three));
  CHECK_FALSE(some.retries.forget_failed(three));
  CHECK_FALSE(some.retries.forget_failed(single));
  CHECK_FALSE(some.fails(three));
}

TEST_CASE("a row pauses until its time is over, or the pause is ended") {
  Tried some;
  some.retries.pause(three, Instant{2s});
  some.retries.pause(single, Instant{1s});
  CHECK(some.retries.pause_over_at(three) == Instant{2s});
  CHECK(some.retries.wake_at() <= Instant{1s});
  CHECK(some.retries.take_due(Instant{1s}) == std::vector{single});
  CHECK_FALSE(some.retries.is_pausing(single));
  CHECK(some.retries.is_pausing(three));
  some.retries.end_pause(three);
  CHECK(some.retries.take_due(Instant{3s}).empty());
}

TEST_CASE("a crash begins a pause by the row's backoff, and moves none that there is") {
  Tried some;
  some.crashed(three, 1);
  CHECK(some.retries.pause_after_crash(three, Instant{}, some.random));
  const auto over_at = some.retries.pause_over_at(three);
  REQUIRE(over_at.has_value());
  CHECK(*over_at >= Instant{750ms});
  CHECK(*over_at <= Instant{1250ms});
  CHECK(some.retries.pause_after_crash(three, Instant{500ms}, some.random));
  CHECK(some.retries.pause_over_at(three) == over_at);
  some.crashed(single, 1);  // Without a backoff.
  CHECK_FALSE(some.retries.pause_after_crash(single, Instant{}, some.random));
}

TEST_CASE("a task that crashed a process keeps away from the record, and does not take the last process") {
  Tried some;
  const Life self = life_of(0), other = life_of(1);
  some.state.cell = self;
  some.plan.quarantine = true;
  some.places = {self, other};
  CHECK_FALSE(some.crashes.keeps_away_from_the_record(three));
  some.crashed(three, 1);
  CHECK(some.crashes.is_dangerous(three));
  CHECK(some.crashes.keeps_away_from_the_record(three));
  CHECK_FALSE(some.crashes.keeps_away_from_the_record(single));
  CHECK_FALSE(some.crashes.would_take_the_last_one(three));
  some.places = {self};
  CHECK_FALSE(some.crashes.keeps_away_from_the_record(three));
  CHECK(some.crashes.would_take_the_last_one(three));
  CHECK_FALSE(some.crashes.would_take_the_last_one(single));
}

TEST_CASE("a suspect may take the last process until no doubt is left") {
  const std::uint32_t deaths = GENERATE(1u, suspicions_free);
  Tried some;
  some.places = {some.state.cell};
  some.plan.quarantine = true;
  message::Crashed suspect;
  suspect.task = some.rows.table.id(three);
  suspect.times = deaths;
  some.state.suspects = {suspect};
  CHECK(some.crashes.would_take_the_last_one(three) == (deaths == suspicions_free));
  some.rows.rows.set(three, flag::member);  // In company nobody knows.
  CHECK_FALSE(some.crashes.would_take_the_last_one(three));
}

TEST_CASE("a suspect runs alone unless it is of a group; a crash alone makes no suspect") {
  Tried some;
  some.crashed(three, 1);
  CHECK_FALSE(some.crashes.runs_alone(three));
  some.crashed(three, 2);
  CHECK(some.crashes.runs_alone(three));
  message::Crashed suspect;
  suspect.task = some.rows.table.id(single);
  suspect.times = 1;
  some.state.suspects = {suspect};
  CHECK(some.crashes.runs_alone(single));
  CHECK(some.crashes.why_alone(single) == "it was in a process that nobody knows who killed");
  some.rows.rows.set(single, flag::member);
  CHECK_FALSE(some.crashes.runs_alone(single));
}

TEST_CASE("a crash of a spawned task that is no row any more is remembered by its shard") {
  Tried some;
  some.plan.shards = 2;
  message::Crashed spawned;
  spawned.task = first_spawned_of(1, {1, 1});
  spawned.times = 1;
  some.state.crashed = {spawned};
  some.crashes.state_changed(0);
  CHECK_FALSE(some.crashes.lost_a_spawned_one());
  some.crashes.state_changed(1);
  some.state.crashed.clear();
  some.crashes.state_changed(1);
  CHECK(some.crashes.lost_a_spawned_one());
}
