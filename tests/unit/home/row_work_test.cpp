// Work that is put off until the event is over: in which order it is done, and that none is left.
#include "libdag/home/row_work.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace dag;

TEST_CASE("each kind of work comes out in the order in which it was put in") {
  RowWork work;
  work.decide(3);
  work.decide(std::vector<RowIndex>{1, 2});
  work.decide(3);  // Twice is no fault: the second look finds nothing to do.
  work.send(9);
  work.send(8);
  work.place(7);
  work.end_head(4, 5);
  work.end_head(6, 4);
  for (const RowIndex row : {3u, 1u, 2u, 3u}) CHECK(work.take_to_decide() == row);
  CHECK(work.take_to_decide() == no_row);
  CHECK(work.take_to_send() == 9);
  work.send(5);  // Work makes more work.
  CHECK(work.take_to_send() == 8);
  CHECK(work.take_to_send() == 5);
  CHECK(work.take_to_place() == 7);
  const auto first = work.take_head();
  REQUIRE(first.has_value());
  CHECK(first->head == 4);
  CHECK(first->tail == 5);
  CHECK(work.take_head()->head == 6);
  CHECK_FALSE(work.take_head().has_value());
  work.check_invariants();
}

TEST_CASE("work of any kind that is left when an event is over is a bug") {
  RowWork work;
  SECTION("to decide") { work.decide(1); }
  SECTION("to send") { work.send(1); }
  SECTION("to place") { work.place(1); }
  SECTION("a head to end") { work.end_head(1, 2); }
  CHECK_THROWS_AS(work.check_invariants(), Bug);
}
