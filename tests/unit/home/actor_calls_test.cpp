// Calls of job actors: whose they are, and in which order they run.
#include "libdag/home/actor_calls.hpp"

#include "tests/unit/home/rows_of.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// The calls of all rows, in the order of adding.
void add_all(ActorCalls& calls, const RowsOf& rows) {
  calls.add_actors();
  for (RowIndex row = 0; row < rows.table.size(); ++row) {
    if (rows.rows.is_call(row)) calls.add(row, {});
  }
}

std::vector<RowIndex> order_of(const ActorCalls& calls, std::uint32_t actor) {
  return {calls[actor].calls.begin(), calls[actor].calls.end()};
}

}  // namespace

TEST_CASE("each actor has its own calls, and actors that are saved together are one group") {
  Names names;
  names.actor("A"), names.actor("B"), names.actor("C");
  names.builder.add_save_group({0, 2});
  names.task("no call");
  names.call(1, "b");
  names.call(0, "a");
  RowsOf rows(names.builder.sealed());
  ActorCalls calls(rows.rows, *rows.graph, false, PlantedInHome::nothing);
  add_all(calls, rows);
  REQUIRE(calls.size() == 3);
  REQUIRE(calls.group_count() == 2);
  CHECK(calls.group(0) == std::vector<std::uint32_t>{0, 2});
  CHECK(calls.group(1) == std::vector<std::uint32_t>{1});
  CHECK(order_of(calls, 0) == std::vector<RowIndex>{0, 5});
  CHECK(order_of(calls, 1) == std::vector<RowIndex>{1, 4});
  CHECK(calls.number_of(5) == 0);
  CHECK(calls.actor_of(4).index == 1);
  CHECK(calls[2].can_save);
  calls.check_invariants();
}

TEST_CASE("calls are passed in their order, and anew when ends were taken back") {
  Names names;
  names.actor("A");
  names.call(0, "a");
  names.call(0, "b");
  RowsOf rows(names.builder.sealed());
  ActorCalls calls(rows.rows, *rows.graph, false, PlantedInHome::nothing);
  add_all(calls, rows);
  CHECK(calls[0].last_ended() == no_row);
  CHECK(calls.take_ended(0) == no_row);
  rows.end(0);
  rows.end(2);  // Cancelled before its turn, say.
  CHECK(calls.take_ended(0) == 0);
  CHECK(calls.take_ended(0) == no_row);
  CHECK(calls[0].next_call() == 1);
  CHECK(calls[0].last_ended() == 0);
  calls.check_invariants();
  rows.end(1);
  CHECK(calls.take_ended(0) == 1);
  CHECK(calls.take_ended(0) == 2);
  CHECK(calls[0].next_call() == no_row);
  CHECK(calls.take_ended(0) == no_row);
  rows.rows.unset(1, flag::noted);
  calls.begin_anew(0);
  CHECK(calls.take_ended(0) == 0);
  CHECK(calls.take_ended(0) == no_row);
  calls.erase(1);  // Call 1 has vanished.
  CHECK(calls.take_ended(0) == 2);
  CHECK(order_of(calls, 0) == std::vector<RowIndex>{0, 2});
  calls.check_invariants();
}

TEST_CASE("a call that a task spawned goes before the calls that wait for that task, and behind all others") {
  Names names;
  names.actor("A");
  names.actor("B");
  const TaskId before = names.call(0, "before"), task = names.task("task");
  const TaskId reader = names.task("reader", {task});
  const TaskId other = names.call(1, "other", {reader});
  const TaskId waits = names.call(0, "waits", {other}), later = names.call(0, "later");
  const TaskId spawned = names.call(0, "spawned");
  RowsOf rows(names.builder.sealed());
  ActorCalls calls(rows.rows, *rows.graph, GENERATE(false, true), PlantedInHome::nothing);
  calls.add_actors();
  for (const RowIndex row : {RowIndex{0}, RowIndex{1}, before.index, other.index, waits.index, later.index})
    calls.add(row, {});
  const std::set<RowIndex> behind = calls.behind(task.index);
  for (const TaskId call : {other, waits, later}) CHECK(behind.contains(call.index));
  for (const TaskId call : {before, task, reader}) CHECK_FALSE(behind.contains(call.index));
  calls.add(spawned.index, behind);
  CHECK(order_of(calls, 0) ==
        std::vector<RowIndex>{0, before.index, spawned.index, waits.index, later.index});
}

TEST_CASE("a task without calls behind it has none, however often that is asked") {
  Names names;
  names.actor("A");
  const TaskId task = names.task("task"), reader = names.task("reader", {task});
  RowsOf rows(names.builder.sealed());
  ActorCalls calls(rows.rows, *rows.graph, false, PlantedInHome::nothing);
  add_all(calls, rows);
  CHECK(calls.behind(task.index).empty());
  CHECK(calls.behind(task.index).empty());
  CHECK(calls.behind(reader.index).empty());
  CHECK(calls.behind(0).empty());
}
