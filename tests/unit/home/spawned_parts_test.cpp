// Spawned parts: their parents, the ids of their tasks, and how far they may be ahead of the record.
#include "libdag/home/spawned_parts.hpp"

#include <catch2/catch.hpp>

using namespace dag;

namespace {

constexpr TaskId first = first_spawned_of(0, {1, 1});
constexpr RowIndex a = 0, b = 1, c = 2;

}  // namespace

TEST_CASE("spawned parts use credit until the record has them, or they have vanished") {
  SpawnedParts parts({.tasks = 10, .bytes = 1000}, first);
  parts.add(0, no_row);
  parts.add(1, a);
  parts.add(2, b);
  parts.went_ahead(1, {6, 100});
  CHECK_FALSE(parts.waits_for_credit(c));
  parts.went_ahead(2, {4, 100});
  CHECK(parts.waits_for_credit(b));
  CHECK(parts.waits_for_credit(a));
  CHECK(parts.take_next() == no_row);
  parts.told(1, 7);
  parts.told(2, 8);
  parts.recorded(6);
  CHECK(parts.load_ahead() == SpawnLoad{10, 200});
  parts.check_invariants();
  parts.recorded(7);
  CHECK(parts.load_ahead() == SpawnLoad{4, 100});
  CHECK(parts.awaits_credit(a));
  CHECK(parts.take_next() == a);
  CHECK_FALSE(parts.awaits_credit(a));
  parts.forget(2);
  parts.recorded(8);  // The part vanished when it had been told.
  CHECK(parts.load_ahead() == SpawnLoad{});
  parts.check_invariants();
}

TEST_CASE("ids follow each other, and an attempt gets all that it needs or none") {
  SpawnedParts parts({}, first);
  constexpr std::uint32_t ids = 1u << spawned_block_bits;
  CHECK(parts.take_ids(3) == first);
  CHECK(parts.take_ids(ids - 5) == TaskId{first.origin, first.index + 3});
  CHECK_FALSE(parts.take_ids(3).has_value());
  CHECK(parts.take_ids(2) == TaskId{first.origin, first.index + ids - 2});
  CHECK_FALSE(parts.take_ids(1).has_value());
}

TEST_CASE("each part has a parent, except the submitted graph, which is never ahead of the record") {
  SpawnedParts parts({}, first);
  parts.add(0, no_row);
  CHECK_THROWS_AS(parts.add(2, a), Bug);
  parts.add(1, b);
  CHECK(parts.parent_of(0) == no_row);
  CHECK(parts.parent_of(1) == b);
  parts.went_ahead(1, {1, 1});
  parts.check_invariants();
  parts.went_ahead(0, {1, 1});
  CHECK_THROWS_AS(parts.check_invariants(), Bug);
}
