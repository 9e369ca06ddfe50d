// Outputs that stay although no task reads them.
#include "libdag/home/staying_outputs.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr Instant at(Duration time) { return Instant{time}; }
constexpr RowIndex a = 0, b = 1, c = 2;

}  // namespace

TEST_CASE("released outputs stay while there is room; the oldest goes first") {
  StayingOutputs staying(100);
  CHECK(staying.has_room_for(100));
  CHECK_FALSE(staying.has_room_for(101));
  staying.add_released(a, 60);
  CHECK(staying.take_too_much() == no_row);
  staying.add_released(b, 40);
  CHECK(staying.take_too_much() == no_row);
  staying.add_released(c, 50);
  CHECK(staying.take_too_much() == a);
  CHECK(staying.take_too_much() == no_row);
  staying.check_invariants();
}

TEST_CASE("not more than so many released outputs stay, however small they are") {
  StayingOutputs staying(1u << 30);
  for (RowIndex row = 0; row < StayingOutputs::released_max; ++row) staying.add_released(row, 1);
  CHECK(staying.take_too_much() == no_row);
  staying.add_released(no_row - 1, 1);
  CHECK(staying.take_too_much() == a);
  CHECK(staying.take_too_much() == no_row);
}

TEST_CASE("an output that was made again stays for some time after the last question") {
  StayingOutputs staying(0);
  CHECK_FALSE(staying.wake_at());
  staying.asked_for(a, at(1s));
  staying.asked_for(b, at(2s));
  staying.asked_for(a, at(3s));
  CHECK(staying.wake_at() == at(2s) + StayingOutputs::made_again_for);
  CHECK(staying.take_due(at(4s)).empty());
  CHECK(staying.take_due(at(2s) + StayingOutputs::made_again_for) == std::vector{b});
  CHECK(staying.take_due(at(3s) + StayingOutputs::made_again_for) == std::vector{a});
  CHECK_FALSE(staying.wake_at());
}
