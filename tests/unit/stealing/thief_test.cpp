// Victims that an idle process asks, and the time of the next question.
#include <catch2/catch.hpp>

#include "libdag/stealing/thief.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{10s};

Life life(std::uint32_t process) { return {ProcessId{process}, {1}}; }
VictimView view(std::uint32_t process, std::uint32_t rung, std::uint32_t ready, Duration wait) {
  return {.life = life(process), .rung = rung, .tasks_ready = ready, .wait = wait, .round_trip = 100us};
}
const VictimView busy = view(1, 0, 5, 1s);

}  // namespace

TEST_CASE("whom to ask: who gains time, the nearest, the longest queue, the first; else anybody") {
  struct Row {
    std::vector<VictimView> views;
    std::optional<std::uint32_t> victim;
  };
  const VictimView silent = view(9, 0, 0, 0s);
  const auto row = GENERATE_REF(
      Row{{}, {}}, Row{{silent, view(1, 0, 0, 1s)}, 9}, Row{{silent, view(1, 0, 5, 100us)}, 9},
      Row{{silent, view(1, 0, 5, 101us)}, 1}, Row{{view(1, 1, 50, 1s), view(2, 0, 1, 1ms)}, 2},
      Row{{view(1, 1, 5, 1ms), view(2, 1, 5, 2ms)}, 2}, Row{{view(3, 1, 5, 1ms), view(2, 1, 5, 1ms)}, 3});
  ThiefMachine thief;
  const auto asked = thief.next(row.views, start);
  REQUIRE(asked.has_value() == row.victim.has_value());
  if (asked) CHECK(*asked == life(*row.victim));
}

TEST_CASE("one question at a time; without an answer it is given up, and somebody else is asked") {
  ThiefMachine thief;
  const std::vector<VictimView> views = {busy, view(2, 0, 5, 1ms)};
  REQUIRE(thief.next(views, start) == life(1));
  CHECK_FALSE(thief.next(views, start + 4ms));
  CHECK(thief.wake_at() == start + 5ms);
  CHECK_FALSE(thief.next(views, start + 5ms));
  CHECK(thief.wake_at() == start + 6ms);
  CHECK(thief.next(views, start + 6ms) == life(2));
  // Late work from the first does not answer the second.
  thief.on_work(life(1));
  CHECK(thief.open() == life(2));
  thief.on_work(life(2));
  CHECK_FALSE(thief.open());
  CHECK_FALSE(thief.wake_at());
}

TEST_CASE("as long as nobody has anything the pauses grow, up to a tenth of a second") {
  ThiefMachine thief;
  Instant now = start;
  Duration last{0};
  for (int refusal = 0; refusal < 12; ++refusal) {
    REQUIRE(thief.next({busy}, now));
    now = thief.wake_at().value();
    CHECK_FALSE(thief.next({busy}, now));
    const Instant wake = thief.wake_at().value();
    CHECK(wake - now >= last);
    last = wake - now;
    now = wake;
  }
  CHECK(last == 100ms);
  SECTION("until somebody gives something") {
    REQUIRE(thief.next({busy}, now));
    thief.on_work(life(1));
    CHECK(thief.next({busy}, now));
  }
  SECTION("or a job begins") {
    thief.on_new_job();
    CHECK(thief.next({busy}, now));
  }
}

TEST_CASE("who knows nobody that has work asks all in turn") {
  ThiefMachine thief({.pause_after_refusal = 0ms, .pause_max = 0ms});
  const std::vector<VictimView> silent = {view(4, 0, 0, 0s), view(5, 0, 0, 0s), view(1, 0, 0, 0s)};
  Instant now = start;
  for (const std::uint32_t expected : {4u, 5u, 1u, 4u}) {
    CHECK(thief.next(silent, now) == life(expected));
    now = now + 5ms;
  }
}

TEST_CASE("a dead victim owes no answer") {
  ThiefMachine thief;
  REQUIRE(thief.next({busy}, start));
  thief.on_member_down(life(1));
  CHECK_FALSE(thief.open());
  CHECK(thief.next({view(2, 0, 5, 1s)}, start));
}
