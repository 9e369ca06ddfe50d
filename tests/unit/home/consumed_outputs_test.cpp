// Which outputs other shards need no more, and what they are told of theirs.
#include "libdag/home/consumed_outputs.hpp"

#include "tests/unit/home/rows_of.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// Two tasks of shard 0: `both` is read in shards 1 and 2, `one` in shard 2 only.
struct Read {
  Read() { consumed.add_graph(); }
  static detail::Fragment graph() {
    Names names;
    const TaskId both = names.task("both"), one = names.task("one");
    names.task("in 1", {both});
    names.task("in 2", {both, one});
    return names.builder.sealed();
  }
  const std::vector<ShardIndex> shard_of{0, 0, 1, 2};
  const Sharding sharding{shard_of, 0};
  RowsOf rows{graph(), &sharding};
  RowIndex both = rows.table.find({0, 0}), one = rows.table.find({0, 1});
  ConsumedOutputs consumed{rows.rows};
};

}  // namespace

TEST_CASE("each shard that reads an output counts once, and others do not") {
  Read some;
  CHECK(some.consumed.first_told_by(1, some.both));
  CHECK_FALSE(some.consumed.first_told_by(1, some.both));
  CHECK(some.consumed.first_told_by(2, some.both));
  CHECK_FALSE(some.consumed.first_told_by(1, some.one));
  CHECK(some.consumed.first_told_by(2, some.one));
  CHECK_FALSE(some.consumed.first_told_by(3, some.one));
  some.consumed.check_invariants();
}

TEST_CASE("a shard is told of all its outputs at once, when the event is over") {
  Read some;
  some.consumed.tell(2, {0, 7});
  some.consumed.tell(1, {0, 9});
  some.consumed.tell(2, {0, 8});
  CHECK_THROWS_AS(some.consumed.check_invariants(), Bug);
  const auto told = some.consumed.take_to_tell();
  REQUIRE(told.size() == 2);
  std::vector<TaskId> of_2;
  for (const message::TaskBits& some_tasks : told.at(2))
    some_tasks.each([&](TaskId task) { of_2.push_back(task); });
  CHECK(of_2 == std::vector<TaskId>{{0, 7}, {0, 8}});
  some.consumed.check_invariants();
  CHECK(some.consumed.take_to_tell().empty());
}
