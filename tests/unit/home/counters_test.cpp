// Counts of a home at its end.
#include "tests/unit/home/one_home.hpp"

using namespace dag;
using namespace dag::test;

TEST_CASE("a row whose word can count no more attempts fails, and no attempt has a number twice") {
  OneHome one(Representation::as_needed);
  one.tell(one.ended(one.a, {{1, 1}, 1}, 1, 10));
  one.tell(one.ended(one.b, {{1, 1}, 1}, 2, 20));
  REQUIRE(one.made_ready == 1);
  const RowIndex row = one.table->find(one.c);
  while (one.table->word(row).attempt < Word::attempt_max) {
    one.table->apply(row, TakenBack{one.table->word(row).attempt});
    REQUIRE(one.table->apply(row, Released{}).what == Do::make_ready);
  }
  one.table->apply(row, TakenBack{Word::attempt_max});
  LaneReport report;
  report.missing_inputs.push_back(row);
  one.home->on_lanes(std::move(report), one.now);
  one.look();
  CHECK(one.table->word(row).state == RowState::ended);
  CHECK(one.table->word(row).outcome == Outcome::failed);
  CHECK(one.made_ready == 1);
  CHECK(one.started.empty());
}
