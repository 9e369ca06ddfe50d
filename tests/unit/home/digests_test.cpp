// Digests that are taken later: rows that wait for them, rows that do not, and digests that never come.
#include <catch2/catch.hpp>

#include "libdag/home/digests.hpp"
#include "tests/unit/home/rows_of.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// Values are fetched.
LocalJobOptions behind(Representation representation) {
  LocalJobOptions options = home_at_1(representation);
  options.inline_bytes_max = 0;
  options.digests_behind = true;
  return options;
}
/// All attempts run at process 2, which takes their digests.
LocalJobOptions behind_at_2() {
  LocalJobOptions options = behind(Representation::supervised);
  options.place = 2;
  return options;
}

/// a, then b, which reads it.
struct TwoTasks {
  Names graph;
  TaskId a = graph.task("a"), b = graph.task("b", {a});
  detail::Fragment sealed() { return graph.builder.sealed(); }
  static std::uint64_t value() { return value_of("b", {value_of("a")}); }
};

/// The kernel of a: one more each time it runs.
Kernel another_each_time() {
  return [salt = std::make_shared<std::uint64_t>(0)](const KernelCall& call) {
    AttemptEnd ended = Script().ordinary(call);
    ended.output = detail::to_blob(value_of("a") + (*salt)++);
    return ended;
  };
}

void check_value(LocalJob& job, TaskId task, std::uint64_t value) {
  job.fetch(task);
  job.run_until([&] { return job.brought.contains(task); });
  CHECK(job.value(task) == value);
}

}  // namespace

TEST_CASE("readers do not wait for a digest, the record does") {
  TwoTasks tasks;
  LocalJobOptions options = behind(both());
  options.rings = GENERATE(false, true);
  const bool elsewhere = GENERATE(false, true);
  if (elsewhere) options.shards = 2, options.shard_of = {0, 1}, options.homes = {1, 2};
  if (GENERATE(false, true)) options.place = 2;
  LocalJob job(tasks.sealed(), Script().kernel(), options);
  job.keep({tasks.a, tasks.b});
  job.hold_digests = true;
  job.settle_down();
  CHECK(job.runs("b") == 1);
  CHECK(job.outcome(tasks.a) == Outcome::none);
  CHECK(job.home(0).explain(tasks.a) == "finished, waits for its digest");
  job.hold_digests = false;
  job.run();
  CHECK(job.settled.at(tasks.a).record.digest == digest_of(detail::to_blob(value_of("a"))));
  check_value(job, tasks.b, TwoTasks::value());
}

TEST_CASE("a digest whose taker dies is not waited for") {
  TwoTasks tasks;
  LocalJob job(tasks.sealed(), Script().kernel(), behind_at_2());
  job.keep({tasks.a, tasks.b});
  job.hold_digests = true;
  job.settle_down();
  REQUIRE(job.runs("b") == 1);
  job.die(2);
  job.hold_digests = false;
  job.run();
  check_value(job, tasks.a, value_of("a"));  // Made again.
  check_value(job, tasks.b, TwoTasks::value());
}

TEST_CASE("a digest may come before the end it belongs to") {
  TwoTasks tasks;
  LocalJob job(tasks.sealed(), Script().kernel(), behind_at_2());
  job.keep({tasks.a});
  job.hold = is_a<message::Ended>;
  job.settle_down();
  REQUIRE(job.runs("a") == 1);
  job.release_held();
  job.run();
  CHECK(job.settled.at(tasks.a).record.digest == digest_of(detail::to_blob(value_of("a"))));
  CHECK(job.runs("a") == 1);
}

TEST_CASE("a later home hears of a digest that is being taken") {
  TwoTasks tasks;
  LocalJob job(tasks.sealed(), Script().kernel(), behind_at_2());
  job.keep({tasks.a});
  job.hold_digests = true;
  job.paused = {"b"};
  job.settle_down();
  REQUIRE(job.runs("a") == 1);
  if (GENERATE(false, true)) job.hold = is_a<message::Report>;  // The digest is faster.
  job.die(1);
  job.settle_down();
  job.hold_digests = false;
  job.settle_down();
  job.release_held();
  job.paused.clear();
  job.run();
  CHECK(job.runs("a") == 1);
  CHECK(job.settled.at(tasks.a).record.attempt.epoch == Epoch{1, 1});
  CHECK(job.settled.at(tasks.a).record.digest == digest_of(detail::to_blob(value_of("a"))));
}

TEST_CASE("an end that was only heard of does not count when nobody has its value, nor a digest of it") {
  // Else what b came to from the first value of a would stand beside what others come to from the second.
  TwoTasks tasks;
  LocalJobOptions options = behind(both());
  options.shards = 2, options.shard_of = {0, 1}, options.homes = {1, 2};
  Script script;
  script.special["a"] = another_each_time();
  LocalJob job(tasks.sealed(), script.kernel(), options);
  job.keep({tasks.a, tasks.b});
  job.hold_digests = true;
  job.settle_down();
  REQUIRE(job.runs("b") == 1);
  job.die(1);
  job.hold_digests = false;
  job.run();
  check_value(job, tasks.a, value_of("a") + 1);
  check_value(job, tasks.b, value_of("b", {value_of("a") + 1}));
}

TEST_CASE("what tries on inputs that do not count came to does not count") {
  // b fails on the first value of a, which nobody vouches for when its process dies, because a lane told of
  // it; on the second one it may try as often as ever.
  Names graph;
  const TaskId a = graph.task("a", {graph.task("before a")}), b = graph.task("b", {a});
  graph.attempts(b, 2);
  LocalJobOptions options = behind(Representation::as_needed);
  options.shards = 2;
  options.shard_of = {0, 0, 1};
  options.homes = {1, 2};
  options.inline_bytes_max = 4096;
  options.rings = true;
  Script script;
  script.failures["b"] = 1;
  script.special["a"] = another_each_time();
  LocalJob job(graph.builder.sealed(), script.kernel(), options);
  job.hold_digests = true;
  job.settle_down();
  REQUIRE(job.runs("b") == 2);
  job.die(1);
  job.hold_digests = false;
  job.run();
  REQUIRE(job.runs("b") == 4);
  std::vector<std::uint32_t> tries;
  for (const LocalJob::Ran& ran : job.ran) {
    if (ran.name == "b") tries.push_back(ran.attempt_number);
  }
  CHECK(tries == std::vector<std::uint32_t>{1, 2, 1, 2});
  CHECK(job.outcome(b) == Outcome::finished);
}

TEST_CASE(
    "a digest is awaited from the runner that takes it, as long as that lives, or until nobody needs it") {
  Names names;
  for (const char* name : {"a", "b", "c", "d"}) names.task(name);
  RowsOf rows(names.builder.sealed());
  Digests digests(rows.rows);
  for (RowIndex row = 0; row < 4; ++row) {
    rows.end(row);
    CHECK_FALSE(digests.await(row, rows.rows.output_of(row), life_of(row % 2)));
  }
  digests.check_invariants();
  CHECK_FALSE(digests.came(0, life_of(1)));
  CHECK(digests.came(0, life_of(0)));
  CHECK_FALSE(digests.awaits(0));
  CHECK(digests.lives_left({life_of(0)}) == std::vector<RowIndex>{1, 3});
  CHECK(digests.awaits(2));
  CHECK(digests.forget(2));
  CHECK_FALSE(digests.forget(2));
  rows.settle(2);
  digests.check_invariants();
}

TEST_CASE(
    "a digest that came before the end of its attempt is there at once, and digests of released outputs are "
    "kept") {
  Names names;
  for (const char* name : {"a", "b"}) names.task(name);
  RowsOf rows(names.builder.sealed());
  Digests digests(rows.rows);
  digests.came_early(rows.rows.output_of(1), 42);
  CHECK_FALSE(digests.await(0, rows.rows.output_of(0), life_of(1)));
  CHECK(digests.await(1, rows.rows.output_of(1), life_of(1)) == std::uint64_t{42});
  CHECK_FALSE(digests.awaits(1));
  CHECK(digests.of_let_go(1) == 0u);
  digests.let_go(1, 7);
  CHECK(digests.of_let_go(1) == 7u);
  CHECK(digests.of_let_go(0) == 0u);
}
