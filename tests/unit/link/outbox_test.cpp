// When operations become a batch, and when producers must slow down.
#include <catch2/catch.hpp>

#include "libdag/link/outbox.hpp"

using namespace dag;
using namespace dag::link;

namespace {
LinkOptions small() {
  LinkOptions options;
  options.flush_operations = 4;
  options.flush_bytes = 100;
  options.operation_bytes_max = 400;
  options.outbox_operations_max = 10;
  options.outbox_bytes_max = 1000;
  check(options);
  return options;
}
Offer put(Outbox<int>& outbox, int value, std::size_t size_bytes) {
  return outbox.offer(std::move(value), size_bytes, Instant{});
}
}  // namespace

TEST_CASE("a batch closes at its number of operations") {
  Outbox<int> outbox(small());
  for (int i = 0; i < 3; ++i) REQUIRE(put(outbox, i, 1) == Offer::taken);
  CHECK_FALSE(outbox.has_closed());
  REQUIRE(put(outbox, 3, 1) == Offer::taken);
  REQUIRE(outbox.has_closed());
  const auto batch = outbox.pop();
  CHECK(batch->operations == std::vector<int>{0, 1, 2, 3});
  CHECK(batch->charge_bytes == 4);
  CHECK(outbox.empty());
}

TEST_CASE("a batch closes before it grows beyond its bytes, and a large operation travels alone") {
  Outbox<int> outbox(small());
  REQUIRE(put(outbox, 1, 60) == Offer::taken);
  REQUIRE(put(outbox, 2, 60) == Offer::taken);
  REQUIRE(put(outbox, 3, 300) == Offer::taken);
  CHECK(outbox.pop()->operations == std::vector<int>{1});
  CHECK(outbox.pop()->operations == std::vector<int>{2});
  CHECK(outbox.pop()->operations == std::vector<int>{3});
}

TEST_CASE("producers are told to slow down at half, refused when full, and told once when there is room") {
  Outbox<int> outbox(small());
  for (int i = 0; i < 5; ++i) REQUIRE(put(outbox, i, 1) == Offer::taken);
  for (int i = 5; i < 10; ++i) REQUIRE(put(outbox, i, 1) == Offer::taken_slow_down);
  int kept = 77;
  CHECK(outbox.offer(std::move(kept), 1, Instant{}) == Offer::refused);
  CHECK(kept == 77);
  CHECK_FALSE(outbox.take_room_again());
  outbox.pop();
  CHECK_FALSE(outbox.take_room_again());  // Six left: still above half.
  outbox.pop();
  CHECK(outbox.take_room_again());
  CHECK_FALSE(outbox.take_room_again());
}

TEST_CASE("an operation larger than allowed is our own bug") {
  Outbox<int> outbox(small());
  CHECK_THROWS_AS(put(outbox, 1, 401), Bug);
}

TEST_CASE("limits that would let a link wait for itself are refused") {
  LinkOptions options;
  options.window_operations = options.flush_operations;
  CHECK_THROWS_AS(check(options), Bug);
}
