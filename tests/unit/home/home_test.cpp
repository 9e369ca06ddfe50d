// Decisions of a home while nothing is lost: order, outcomes, retries, spawning, job actors, effects,
// cancelling, letting go.
#include <array>
#include <catch2/catch.hpp>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;
using detail::EdgeKind;

namespace {

LocalJobOptions one(Representation representation) {
  LocalJobOptions options;
  options.representation = representation;
  return options;
}
bool before(const LocalJob& job, const std::string& first, const std::string& second) {
  const auto at = [&](const std::string& name) {
    return std::find_if(job.ran.begin(), job.ran.end(), [&](const auto& ran) { return ran.name == name; });
  };
  return at(first) < at(second);
}
const Error& error_of(const LocalJob& job, TaskId task) { return *job.settled.at(task).record.error; }

/// Tasks a, b and large that are dispatched, of which the last one is placed for its needs.
struct DispatchedTasks : Names {
  DispatchedTasks() {
    for (const TaskId task : tasks)
      policy(task, [](Policy& policy) { policy.timeout = std::chrono::hours(1); });
    policy(tasks[2], [](Policy& policy) { policy.needs.cpus = 2; });
  }
  const std::array<TaskId, 3> tasks{task("a"), task("b"), task("large")};
};

}  // namespace

TEST_CASE("tasks run once each, after what they need, with its outputs") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {a}),
               d = graph.task("d", {b, c, b});
  LocalJob job(graph.builder.sealed(), Script().kernel(), one(both()));
  job.run();
  for (const char* name : {"a", "b", "c", "d"}) CHECK(job.runs(name) == 1);
  CHECK(before(job, "a", "b"));
  CHECK(before(job, "c", "d"));
  const std::uint64_t in_b = value_of("b", {value_of("a")}), in_c = value_of("c", {value_of("a")});
  CHECK(job.value(d) == value_of("d", {in_b, in_c, in_b}));
  CHECK(job.outcome(a) == Outcome::finished);
  CHECK(job.outcome(b) == Outcome::finished);
  CHECK(job.outcome(c) == Outcome::finished);
  job.settle_down();
  CHECK(job.home(0).counts().settled == 4);
}

TEST_CASE("a task fails some times and then returns: it is told which try it is, and pauses in between") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  graph.attempts(a, 3, std::chrono::milliseconds(100));
  Script script;
  script.failures["a"] = 2;
  LocalJob job(graph.builder.sealed(), script.kernel(), one(both()));
  job.settle_down();
  REQUIRE(job.ran.size() == 1);
  CHECK(job.home(0).explain(a) == "waits for its next attempt");
  REQUIRE(job.home(0).wake_at());
  CHECK(*job.home(0).wake_at() > Instant{});
  job.run();
  CHECK(job.now >= Instant{std::chrono::milliseconds(225)});  // 100 and 200, three quarters of each at least.
  REQUIRE(job.runs("a") == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(job.ran[i].attempt_number == i + 1);
    CHECK(job.ran[i].id.number == i + 1);
  }
  REQUIRE(job.troubles.size() == 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const Troubled& told = job.troubles[i];
    CHECK(told.kind == Troubled::Kind::retry);
    CHECK(told.task == a);
    CHECK(told.name == "a");
    CHECK(told.number == i + 1);
    CHECK_THAT(told.text, Catch::StartsWith("attempt " + std::to_string(i + 1) + " failed: try ") &&
                              Catch::Contains("; attempt " + std::to_string(i + 2) + " follows in "));
  }
  CHECK(job.value(b) == value_of("b", {value_of("a")}));
}

TEST_CASE("retries used up: the task has failed, and those that need it are cancelled and say why") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {b}), d = graph.task("d");
  graph.attempts(a, 2);
  graph.edge(a, d, EdgeKind::weak);
  Script script;
  script.failures["a"] = 5;
  LocalJob job(graph.builder.sealed(), script.kernel(), one(both()));
  job.run();
  CHECK(job.runs("a") == 2);
  CHECK(job.outcome(a) == Outcome::failed);
  CHECK(error_of(job, a).code == ErrorCode::task_failed);
  CHECK(error_of(job, a).what == "task 'a' (0) failed 2 times: try 2");
  CHECK(job.outcome(b) == Outcome::cancelled);
  CHECK(job.outcome(c) == Outcome::cancelled);
  CHECK(error_of(job, c).cause == error_of(job, a).what);  // The root, not the way to it.
  CHECK(job.runs("b") + job.runs("c") == 0);
  CHECK(job.outcome(d) == Outcome::finished);
  CHECK_FALSE(job.job_ended->stopped);
}

TEST_CASE("a condition that does not hold skips, and skipping spreads over strong edges") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b"), c = graph.task("c", {b}), d = graph.task("d"),
               e = graph.task("e");
  graph.edge(a, b, EdgeKind::conditional, never);
  graph.edge(a, d, EdgeKind::conditional, always);
  graph.edge(c, e, EdgeKind::weak);
  LocalJob job(graph.builder.sealed(), Script().kernel(), one(both()));
  job.run();
  CHECK(job.outcome(b) == Outcome::skipped);
  CHECK(job.outcome(c) == Outcome::skipped);
  CHECK(error_of(job, b).code == ErrorCode::task_skipped);
  CHECK(job.outcome(d) == Outcome::finished);
  CHECK(job.outcome(e) == Outcome::finished);
}

TEST_CASE("a task becomes one that it spawned: it ends with that one's outcome and value") {
  Names below;
  const TaskId x = below.task("x"), y = below.task("y", {x});
  Names graph;
  const TaskId p = graph.task("p"), c = graph.task("c", {p});
  Script script;
  const bool fails = GENERATE(false, true);
  if (fails) script.failures["y"] = 1;
  script.special["p"] = [&](const KernelCall&) { return spawning(below, y.index); };
  LocalJob job(graph.builder.sealed(), script.kernel(), one(both()));
  job.run();
  CHECK(job.runs("p") == 1);
  CHECK(job.runs("y") == 1);
  CHECK(job.outcome(p) == (fails ? Outcome::failed : Outcome::finished));
  CHECK(job.outcome(c) == (fails ? Outcome::cancelled : Outcome::finished));
  if (!fails) CHECK(job.value(c) == value_of("c", {value_of("y", {value_of("x")})}));
  CHECK(job.home(0).counts().rows == 4);
}

TEST_CASE("what a task spawns beside its own value is part of the job") {
  Names below;
  below.task("x");
  Names graph;
  const TaskId p = graph.task("p"), c = graph.task("c", {p});
  Script script;
  script.special["p"] = [&](const KernelCall& call) {
    AttemptEnd ended = spawning(below);
    ended.output = detail::to_blob(value_of(call.name));
    return ended;
  };
  LocalJob job(graph.builder.sealed(), script.kernel(), one(both()));
  job.paused = {"x"};
  job.run_until([&] { return job.outcome(c) == Outcome::finished; });
  job.settle_down();
  CHECK(job.value(c) == value_of("c", {value_of("p")}));
  CHECK_FALSE(job.job_ended);  // x is to be run.
  job.paused.clear();
  job.run();
  CHECK(job.runs("x") == 1);
}

TEST_CASE("a task that becomes a task that becomes a task, five thousand deep") {
  Names graph;
  const TaskId p = graph.task("p");
  Script script;
  std::uint32_t left = 5000;
  script.special["p"] = [&](const KernelCall& call) {
    if (left-- > 0) {
      Names below;
      below.task("p");
      return spawning(below, 0);
    }
    AttemptEnd ended;
    ended.output = detail::to_blob(value_of(call.name));
    return ended;
  };
  LocalJob job(graph.builder.sealed(), script.kernel());
  job.run();
  CHECK(job.value(p) == value_of("p"));
  CHECK(job.runs("p") == 5001);
}

TEST_CASE("a condition on a task that becomes another looks at the other's value") {
  Names below;
  below.task("x");
  Names graph;
  const TaskId p = graph.task("p"), yes = graph.task("yes"), no = graph.task("no");
  graph.edge(p, yes, EdgeKind::conditional, [](const void*, const Blob& output) {
    return detail::from_blob<std::uint64_t>(output) == value_of("x");
  });
  graph.edge(p, no, EdgeKind::conditional, never);
  Script script;
  script.special["p"] = [&](const KernelCall&) {
    AttemptEnd ended = spawning(below, 0);
    ended.conditions = {false, false};
    return ended;
  };
  LocalJob job(graph.builder.sealed(), script.kernel(), one(both()));
  job.run();
  CHECK(job.outcome(yes) == Outcome::finished);
  CHECK(job.outcome(no) == Outcome::skipped);
}

TEST_CASE("calls of an actor run in their order on its state") {
  Names graph;
  graph.actor("A");
  const TaskId slow = graph.task("slow");
  const TaskId first = graph.call(0, "first", {slow}), second = graph.call(0, "second");
  LocalJob job(graph.builder.sealed(), Script().kernel(), one(both()));
  job.keep({first});
  job.paused = {"slow"};
  job.settle_down();
  CHECK(job.runs("A") == 1);
  CHECK(job.runs("second") == 0);
  job.paused.clear();
  job.run();
  const std::uint64_t state = mixed(value_of("A"), value_of("first", {value_of("slow")}));
  CHECK(job.value(first) == state);
  CHECK(job.value(second) == mixed(state, value_of("second")));
}

TEST_CASE("a call that fails is tried on the state before it, which is made again") {
  Names graph;
  graph.actor("A");
  const TaskId first = graph.call(0, "first"), second = graph.call(0, "second");
  graph.attempts(second, 2);
  Script script;
  script.special["second"] = [&](const KernelCall& call) {
    if (call.attempt_number == 1) {
      static_cast<ActorState*>(call.self)->value = 666;  // Half of it was done.
      AttemptEnd ended;
      ended.outcome = Outcome::failed;
      ended.error = Error{ErrorCode::task_failed, "in the middle"};
      return ended;
    }
    return Script().ordinary(call);
  };
  LocalJob job(graph.builder.sealed(), script.kernel(), one(both()));
  job.run();
  const std::uint64_t state = mixed(value_of("A"), value_of("first"));
  CHECK(job.value(second) == mixed(state, value_of("second")));
  CHECK(job.runs("A") == 2);
  CHECK(job.runs("first") == 2);
  CHECK(job.outcome(first) == Outcome::finished);
}

TEST_CASE("effects start only from what is settled; pure tasks run ahead") {
  Names graph;
  const TaskId a = graph.task("a"), ahead = graph.task("pure", {a}),
               effect = graph.task("effect", {a}, Effects::idempotent);
  LocalJob job(graph.builder.sealed(), Script().kernel(), one(both()));
  job.hold = is_a<message::Outcomes>;
  job.settle_down();
  CHECK(job.runs("pure") == 1);
  CHECK(job.runs("effect") == 0);
  CHECK(job.home(0).explain(effect) == "has effects: waits until its inputs are settled");
  job.release_held();
  job.run();
  CHECK(job.runs("effect") == 1);
  CHECK(job.outcome(ahead) == Outcome::finished);
}

TEST_CASE("a cancelled task takes along what needs it, and nothing else") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {b}),
               d = graph.task("d", {a});
  LocalJob job(graph.builder.sealed(), Script().kernel(), one(both()));
  job.paused = {"b"};
  job.settle_down();
  job.cell().cancel({b}, job.now);
  job.told_cell();
  job.run();
  CHECK(job.runs("b") == 0);  // The row was ready, and no lane had it.
  CHECK(job.outcome(b) == Outcome::cancelled);
  CHECK(job.outcome(c) == Outcome::cancelled);
  CHECK(job.outcome(d) == Outcome::finished);
  CHECK_FALSE(job.job_ended->cancelled);
}

TEST_CASE("a cancelled job ends, and what has ended stays") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {b});
  LocalJob job(graph.builder.sealed(), Script().kernel(), one(both()));
  job.paused = {"b"};
  job.settle_down();
  job.cell().cancel({}, job.now);
  job.told_cell();
  job.run();
  CHECK(job.job_ended->cancelled);
  CHECK(job.outcome(a) == Outcome::finished);
  CHECK(job.outcome(b) == Outcome::cancelled);
  CHECK(job.outcome(c) == Outcome::cancelled);
}

TEST_CASE(
    "outputs are let go when their last reader is recorded; those that nobody reads stay for the client") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {b});
  LocalJob job(graph.builder.sealed(), Script().kernel(), one(both()));
  job.run();
  job.settle_down();
  for (const TaskId task : {a, b}) CHECK_FALSE(job.table(0)[job.table(0).find(task)].output.load());
  CHECK(job.table(0)[job.table(0).find(c)].output.load());
}

TEST_CASE("a task that became another lets go of its inputs when that is settled, not when the other ends") {
  Names below;
  below.task("x");
  Names graph;
  const TaskId a = graph.task("a"), p = graph.task("p", {a});
  Script script;
  script.special["p"] = [&](const KernelCall&) { return spawning(below, 0); };
  LocalJob job(graph.builder.sealed(), script.kernel(), one(both()));
  job.paused = {"x"};
  job.settle_down();
  CHECK_FALSE(job.table(0)[job.table(0).find(a)].output.load());
  job.paused.clear();
  job.run();
  CHECK(job.outcome(p) == Outcome::finished);
}

TEST_CASE("ready rows go to a thief, which runs them and tells; calls and claimed rows do not") {
  Names graph;
  graph.actor("A");
  const TaskId a = graph.task("a"), b = graph.task("b"), call = graph.call(0, "call");
  LocalJobOptions options;
  options.processes = 2;
  options.homes = {0};
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"a", "b", "call"};
  job.settle_down();
  job.steal(1, 0, 1);
  job.settle_down();
  CHECK(job.home(0).counts().lent == 2);  // A task, and the call, which was dispatched at home.
  CHECK(job.home(0).explain(a) == "dispatched to " + to_string(job.life(1).process));
  job.paused.clear();
  job.run();
  for (const LocalJob::Ran& ran : job.ran) {
    INFO(ran.name);
    CHECK(ran.at == job.life(ran.name == "a" ? 1 : 0));
  }
  CHECK(job.outcome(b) == Outcome::finished);
  CHECK(job.outcome(call) == Outcome::finished);
}

TEST_CASE("what was dispatched and waits for a lane can be lent, too") {
  DispatchedTasks graph;
  const auto [a, b, large] = graph.tasks;
  LocalJobOptions options;
  options.processes = 3;
  options.homes = {1};
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"a", "b", "large"};
  job.settle_down();
  for (const TaskId task : {a, b, large})
    CHECK(job.home(0).explain(task) == "dispatched to " + to_string(job.life(1).process));
  job.steal(2, 1, 1);
  job.settle_down();
  CHECK(job.home(0).explain(a) == "dispatched to " + to_string(job.life(2).process));
  CHECK(job.home(0).explain(b) == "dispatched to " + to_string(job.life(1).process));
  job.steal(2, 1, 5);
  job.settle_down();
  CHECK(job.home(0).explain(b) == "dispatched to " + to_string(job.life(2).process));
  CHECK(job.home(0).explain(large) ==
        "dispatched to " + to_string(job.life(1).process));  // Placed for its needs.
  job.paused.clear();
  job.run();
  for (const char* name : {"a", "b", "large"}) CHECK(job.runs(name) == 1);
  for (const TaskId task : {a, b, large}) CHECK(job.outcome(task) == Outcome::finished);
}

TEST_CASE(
    "what was lent and waits for a lane there goes by its home to who asks, and is not charged for it") {
  DispatchedTasks graph;
  const auto [a, b, large] = graph.tasks;
  const TaskId alone = graph.task("alone", {}, Effects::exclusive);
  LocalJobOptions options;
  options.processes = 3;
  options.homes = {1};
  options.place = 2;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"a", "b", "large", "alone"};
  job.settle_down();
  for (const TaskId task : {a, b, large, alone})
    CHECK(job.home(0).explain(task) == "dispatched to " + to_string(job.life(2).process));
  job.steal(0, 2, 1);
  job.settle_down();
  CHECK(job.home(0).explain(a) == "dispatched to " + to_string(job.life(0).process));
  CHECK(job.home(0).explain(b) == "dispatched to " + to_string(job.life(2).process));
  job.steal(1, 2, 5);  // The home itself.
  job.settle_down();
  CHECK(job.home(0).explain(b) == "dispatched to " + to_string(job.life(1).process));
  for (const TaskId task : {large, alone})
    CHECK(job.home(0).explain(task) == "dispatched to " + to_string(job.life(2).process));
  job.paused.clear();
  job.run();
  for (const char* name : {"a", "b", "large", "alone"}) CHECK(job.runs(name) == 1);
  for (const LocalJob::Ran& ran : job.ran) CHECK(ran.attempt_number == 1);
  for (const TaskId task : {a, b, large, alone}) CHECK(job.outcome(task) == Outcome::finished);
}

TEST_CASE("who asks for work and is gone when the home hears of it gets nothing: the home runs it") {
  Names graph;
  const TaskId a = graph.task("a");
  graph.policy(a, [](Policy& policy) { policy.timeout = std::chrono::hours(1); });
  LocalJobOptions options;
  options.processes = 4;
  options.homes = {1};
  options.place = 2;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"a"};
  job.settle_down();
  REQUIRE(job.home(0).explain(a) == "dispatched to " + to_string(job.life(2).process));
  job.steal(3, 2, 1);
  job.die(3);
  job.settle_down();
  CHECK(job.home(0).explain(a) == "dispatched to " + to_string(job.life(1).process));
  job.paused.clear();
  job.run();
  CHECK(job.outcome(a) == Outcome::finished);
}

TEST_CASE("a cell that only records is lent nothing, and gets outputs for the client all the same") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  LocalJobOptions options;
  options.processes = 2;
  options.cell_runs = false;
  options.place = 0;  // A task placed there is moved to another one.
  options.inline_bytes_max = 0;
  options.representation = both();
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"a"};
  job.settle_down();
  job.steal(0, 1, 4);
  job.settle_down();
  job.paused.clear();
  job.run();
  for (const LocalJob::Ran& ran : job.ran) CHECK(ran.at == job.life(1));
  CHECK_FALSE(job.settled.at(b).record.value);
  job.fetch(b);
  job.settle_down();
  CHECK(job.value(b) == value_of("b", {value_of("a")}));
}

TEST_CASE("what a task of another shard has to start from is settled at once") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}, Effects::idempotent);
  graph.task("c");
  LocalJobOptions options;
  options.processes = 3;
  options.shards = 2;
  options.shard_of = {0, 1, 0};
  options.homes = {1, 2};
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"a", "c"};
  while (job.step()) {
  }  // The first cuts have left: the next ones wait, if nobody asks for them.
  job.paused = {"c"};
  while (job.step()) {
  }
  CHECK(job.outcome(b) == Outcome::finished);
}
