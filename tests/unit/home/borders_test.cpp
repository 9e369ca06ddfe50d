// Saves of job actors: which border is complete, what waits for it, and what may go then.
#include "libdag/home/borders.hpp"

#include "tests/unit/home/two_actors.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;

namespace {

constexpr Instant at(Duration time) { return Instant{time}; }
using Two = TwoActors;

std::vector<RowIndex> rows_of(const Borders::Complete& complete, bool saves) {
  std::vector<RowIndex> rows;
  for (const Borders::Behind& behind : complete.behind) {
    if (behind.save == saves) rows.push_back(behind.row);
  }
  return rows;
}

}  // namespace

TEST_CASE("calls behind a save wait until the saves of all actors of the group have settled") {
  Two actors;
  actors.finish_before(1);
  CHECK_FALSE(actors.borders.holds(Two::a(1)));
  actors.finish(Two::a(1));
  actors.finish(Two::save_a(1));
  CHECK_FALSE(actors.borders.holds(Two::a(2)));  // B has not come to its save: it may need this call.
  actors.finish(Two::b(1));
  actors.rows.open(Two::save_b(1));
  CHECK(actors.borders.holds(Two::a(2)));
  actors.borders.await(Two::a(2));
  CHECK(actors.borders.take_free() == no_row);
  actors.finish(Two::save_b(1));
  actors.rows.settle(Two::save_a(1));
  CHECK(actors.borders.take_free() == no_row);
  CHECK(actors.borders.awaits(Two::a(2)));
  CHECK_FALSE(actors.borders.advance(0));
  actors.rows.settle(Two::save_b(1));
  CHECK(actors.borders.take_free() == Two::a(2));
  CHECK_FALSE(actors.borders.any_awaits());
  const auto complete = actors.borders.advance(0);
  REQUIRE(complete);
  CHECK(complete->border == 1);
  CHECK(complete->behind.empty());
  actors.borders.check_invariants();
  CHECK_FALSE(actors.borders.advance(0));
}

TEST_CASE("a save that was lost holds nothing") {
  Two actors;
  actors.finish_before(2);
  CHECK(actors.borders.holds(Two::b(2)));
  actors.rows.table[Two::save_a(1)].output.clear();
  CHECK_FALSE(actors.borders.holds(Two::b(2)));
}

TEST_CASE("when a border is complete, older saves and the inputs of calls before it may go") {
  Two actors;
  actors.finish_before(2);
  for (const RowIndex call : {Two::a(1), Two::b(1)}) {
    actors.rows.rows.set(call, flag::retained);
    actors.borders.retain(call);
    CHECK(actors.borders.take_retained(call) == no_row);
  }
  for (const RowIndex save : {Two::save_a(1), Two::save_b(1)}) actors.rows.settle(save);
  const auto first = actors.borders.advance(0);
  REQUIRE(first);
  CHECK(rows_of(*first, false) == std::vector{Two::a(1), Two::b(1)});
  CHECK(rows_of(*first, true).empty());
  for (RowIndex call = Two::a(2); call < Two::a(3); ++call) actors.finish(call);
  for (const RowIndex save : {Two::save_a(2), Two::save_b(2)}) actors.rows.settle(save);
  const auto second = actors.borders.advance(0);
  REQUIRE(second);
  CHECK(second->border == 2);
  CHECK(rows_of(*second, true) == std::vector{Two::save_a(1), Two::save_b(1)});
  CHECK(actors.borders.saves_in_use() ==
        std::vector{Two::save_a(1), Two::save_a(2), Two::save_b(1), Two::save_b(2)});
  actors.rows.rows.set(Two::save_a(1), flag::let_go);
  CHECK(actors.borders.saves_in_use().size() == 3);
  actors.borders.check_invariants();
}

TEST_CASE(
    "with several processes a border is complete when each save is held where one loss cannot take it") {
  Two actors;
  actors.options.several_processes = true;
  actors.state.replicas = 3;
  actors.finish_before(2);
  for (const RowIndex save : {Two::save_a(1), Two::save_b(1)}) {
    actors.rows.rows.fact_of(save).size_bytes = 8;
    actors.rows.settle(save);
  }
  CHECK_FALSE(actors.borders.advance(0));
  actors.outputs.add_holder(Two::save_a(1), life_of(1));
  CHECK_FALSE(actors.borders.advance(0));
  CHECK(actors.borders.holds(Two::a(2)));
  actors.outputs.add_holder(Two::save_b(1), life_of(2));
  CHECK_FALSE(actors.borders.holds(Two::a(2)));
  CHECK(actors.borders.advance(0));
}

TEST_CASE("lost objects come back from the newest border before all wanted calls") {
  Two actors;
  actors.finish_before(3);
  CHECK(actors.borders.choose(0, {}) == 0);  // Nothing has settled.
  for (const std::uint32_t step : {1u, 2u}) {
    for (const RowIndex save : {Two::save_a(step), Two::save_b(step)}) actors.rows.settle(save);
  }
  CHECK(actors.borders.choose(0, {}) == 2);
  CHECK(actors.borders.choose(0, {Two::b(2)}) == 1);
  CHECK(actors.borders.choose(0, {Two::b(2), Two::a(1)}) == 0);
  actors.rows.table[Two::save_b(2)].output.clear();
  CHECK(actors.borders.choose(0, {}) == 1);
  CHECK(actors.borders.save_at(1, 1) == Two::save_b(1));
}

TEST_CASE("a save that may be left out is made when it is time, of all actors or of none") {
  Two actors(10s);
  actors.finish_before(1);
  for (const RowIndex call : {Two::a(1), Two::b(1)}) actors.finish(call);
  CHECK_FALSE(actors.borders.makes(Two::save_a(1), 3600s, at(9s)));
  CHECK_FALSE(actors.borders.makes(Two::save_b(1), 3600s, at(11s)));  // Time is up, but A left its own out.
  for (const RowIndex save : {Two::save_a(1), Two::save_b(1)}) {
    actors.finish(save, false);
    CHECK_FALSE(actors.borders.is_made(save));
  }
  for (const RowIndex call : {Two::a(2), Two::b(2)}) actors.finish(call);
  CHECK(actors.borders.makes(Two::save_b(2), 3600s, at(12s)));
  CHECK(actors.borders.makes(Two::save_a(2), 3600s, at(13s)));
  for (const RowIndex save : {Two::save_a(2), Two::save_b(2)}) actors.finish(save);
  CHECK_FALSE(actors.borders.holds(Two::a(3)));  // Nothing waits for such a save.
  CHECK(actors.borders.saves_in_use() == std::vector{Two::save_a(2), Two::save_b(2)});
  CHECK(actors.borders.saved_as(Two::save_b(2)) ==
        message::SavedAs{.group = 0, .members = 2, .number = 2, .actor = 1});
}

TEST_CASE("a home that comes later makes the saves that the one before it made") {
  Two actors(10s);
  actors.finish_before(1);
  for (const RowIndex call : {Two::a(1), Two::save_a(1), Two::b(1)}) actors.finish(call);
  CHECK(actors.borders.makes(Two::save_b(1), 3600s, at(1s)));
}
