// News to a new home of attempts that homes before it dispatched.
#include "libdag/home/earlier_attempts.hpp"

#include <catch2/catch.hpp>

#include "libdag/home/recount.hpp"

using namespace dag;

namespace {

constexpr Life life(std::uint32_t number) { return {ProcessId{number}, Incarnation{1}}; }
constexpr RowIndex a = 0, b = 1;

EarlierAttempts::Offer offer(std::uint32_t number, Life from, bool running) {
  EarlierAttempts::Offer offer;
  offer.record.attempt = {{1, 1}, number};
  offer.record.outcome = running ? Outcome::none : Outcome::finished;
  offer.running = running;
  offer.from = from;
  return offer;
}

}  // namespace

TEST_CASE("an offer counts once however often it is reported, and is taken once") {
  EarlierAttempts earlier;
  earlier.add(a, offer(1, life(1), true));
  earlier.add(a, offer(1, life(1), true));
  earlier.add(a, offer(1, life(1), false));  // The attempt has ended meanwhile.
  earlier.add(a, offer(1, life(2), true));   // Another process says so, too.
  CHECK(earlier.offers_of(a).size() == 3);
  CHECK(earlier.offers_of(b).empty());
  CHECK(earlier.rows() == std::vector{a});
  earlier.check_invariants();
  CHECK(earlier.take_running(a).size() == 2);
  CHECK(earlier.rows() == std::vector{a});
  const EarlierAttempts::Offers left = earlier.take(a);
  REQUIRE(left.size() == 1);
  CHECK_FALSE(left[0].running);
  CHECK(earlier.take(a).empty());
  CHECK(earlier.rows().empty());
}

TEST_CASE("an attempt that makes an output again runs until it is back or its process is lost") {
  EarlierAttempts earlier;
  const OutputName one{TaskId{0, 1}, {{1, 1}, 4}}, other{TaskId{0, 2}, {{1, 1}, 4}};
  earlier.runs(a, life(1), one);
  earlier.runs(b, life(2), other);
  CHECK(earlier.still_runs(a, {life(1), life(2)}));
  CHECK_FALSE(earlier.still_runs(a, {life(2)}));
  earlier.came_back(one);
  CHECK_FALSE(earlier.still_runs(a, {life(1), life(2)}));
  earlier.overtake(other);
  CHECK_FALSE(earlier.still_runs(b, {life(1), life(2)}));
  CHECK(earlier.is_overtaken(other));
  CHECK_FALSE(earlier.is_overtaken(one));
  earlier.check_invariants();
}

TEST_CASE("a recount is complete when each life that was asked has reported or is lost") {
  Recount recount({life(1), life(2), life(3)});
  recount.reported(life(2));
  recount.reported(life(2));
  recount.lives_left({life(1), life(2)});
  CHECK_FALSE(recount.complete());
  recount.reported(life(1));
  CHECK(recount.complete());
  CHECK(Recount({}).complete());
}
