// When rows start that must not run twice.
#include "libdag/home/starts.hpp"

#include <catch2/catch.hpp>

#include "libdag/home/stopped_attempts.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant at(Duration time) { return Instant{time}; }
constexpr Life life(std::uint32_t number) { return {ProcessId{number}, Incarnation{1}}; }
constexpr RowIndex a = 0, b = 1, c = 2, d = 3;

}  // namespace

TEST_CASE("one start more than there are lanes is open; the lowest row that waits is next") {
  Starts starts(1);
  starts.begin(a);
  CHECK(starts.has_room());
  starts.begin(b);
  CHECK_FALSE(starts.has_room());
  starts.await_room(d);
  starts.await_room(c);
  CHECK(starts.take_next() == no_row);
  starts.ended(a);
  starts.ended(a);  // A repetition gives no more room.
  starts.check_invariants();
  CHECK(starts.take_next() == c);
  starts.begin(c);
  CHECK(starts.take_next() == no_row);
  CHECK(starts.awaits_room(d));
  starts.check_invariants();
}

TEST_CASE("a row may run again only when its attempt came back, and not after an earlier home") {
  Starts starts(4);
  starts.begin(a);
  CHECK(starts.may_run(a));
  starts.taken_back(a, true);
  CHECK_FALSE(starts.may_run(a));
  starts.taken_back(a, false);
  CHECK(starts.may_run(a));
  starts.begun_before(b);
  CHECK(starts.begun(b));
  CHECK_FALSE(starts.may_run(b));
  starts.taken_back(c, false);  // Its start was not settled: nothing to know.
  CHECK_FALSE(starts.begun(c));
}

TEST_CASE(
    "an exclusive row waits for the lease of the process that it was lost with, and no other row does") {
  Starts starts(4);
  starts.begin(a);
  starts.begin(b);
  starts.lost(a, at(5s));
  CHECK(starts.waits_for_lease({a}, at(1s)));
  CHECK_FALSE(starts.waits_for_lease({b}, at(1s)));
  CHECK(starts.wake_at() == at(5s));
  CHECK(starts.take_leases_over(at(4s)).empty());
  CHECK(starts.take_leases_over(at(5s)) == std::vector{a});
  CHECK_FALSE(starts.waits_for_lease({a}, at(5s)));
  CHECK_FALSE(starts.wake_at());
}

TEST_CASE("after a recount rows wait for the leases of processes that may run attempts of earlier homes") {
  Starts starts(4);
  starts.recounted({life(1), life(2)}, at(5s));
  starts.begun_before(a);
  starts.begin(b);
  CHECK(starts.waits_for_lease({a}, at(1s)));
  CHECK_FALSE(starts.waits_for_lease({b}, at(1s)));  // No earlier home had it.
  CHECK(starts.waits_for_lease({.row = b, .again = true}, at(1s)));
  starts.lives_left({life(2)}, at(9s));
  CHECK(starts.waits_for_lease({a}, at(6s)));
  starts.lives_left({life(2)}, at(20s));  // None is lost.
  CHECK_FALSE(starts.waits_for_lease({a}, at(9s)));
  CHECK(starts.waits_for_lease({.row = a, .runs_elsewhere = true}, at(30s)));
}

TEST_CASE("the next attempt waits for all that were told to stop, as long as their processes live") {
  const std::vector<Life> lives{life(1), life(2)};
  StoppedAttempts stopped;
  const AttemptId first{{1, 1}, 1}, second{{1, 1}, 2};
  stopped.add(a, {first, life(1)});
  stopped.add(a, {second, life(2), at(2s)});
  CHECK(stopped.holds(a, lives, at(0s)));
  CHECK_FALSE(stopped.holds(b, lives, at(0s)));
  CHECK_FALSE(stopped.ended(a, life(2), first));  // Another process says so: it is not that attempt.
  CHECK_FALSE(stopped.ended(a, life(1), first));
  CHECK(stopped.holds(a, lives, at(1s)));
  CHECK(stopped.wake_at() == at(2s));
  CHECK_FALSE(stopped.holds(a, {life(1)}, at(1s)));
  CHECK(stopped.take_due(at(1s)).empty());
  CHECK(stopped.take_due(at(2s)) == std::vector{a});
  stopped.check_invariants();
  stopped.add(b, {first, life(1)});
  CHECK_FALSE(stopped.wake_at());  // Only its end will do, or the end of its process.
  CHECK(stopped.lives_left({life(2)}) == std::vector{b});
  CHECK_FALSE(stopped.holds(b, lives, at(3s)));
}
