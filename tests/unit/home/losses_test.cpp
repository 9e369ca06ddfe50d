// Decisions of homes after losses: rows are counted again, attempts that survived are taken over, outputs and
// job actors are made again. Undoing is tested in void_ends_test.cpp.
#include <catch2/catch.hpp>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

TEST_CASE("a new home takes what is settled and runs the rest") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {a, b});
  LocalJob job(graph.builder.sealed(), Script().kernel(), home_at_1(both()));
  job.paused = {"b"};
  job.run_until([&] { return job.outcome(a) == Outcome::finished; });
  job.settle_down();
  job.die(1);
  job.paused.clear();
  job.run();
  CHECK(job.runs("a") == 1);
  CHECK(job.home(0).epoch() == Epoch{1, 2});
  CHECK(job.settled.at(a).record.attempt.epoch == Epoch{1, 1});
  CHECK(job.settled.at(c).record.attempt.epoch == Epoch{1, 2});
  const std::uint64_t in_a = value_of("a");
  CHECK(job.value(c) == value_of("c", {in_a, value_of("b", {in_a})}));
}

TEST_CASE("what ended or runs elsewhere is taken over by the new home, not run again") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {b});
  LocalJobOptions options = home_at_1(Representation::supervised);
  options.place = 2;
  const bool inline_values = GENERATE(true, false);
  if (!inline_values) options.inline_bytes_max = 0;
  std::map<std::string, int> durations_heard;
  options.durations_heard = &durations_heard;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.hold = is_a<message::Outcomes>;  // The cell hears of nothing: process 2 alone can vouch for a.
  job.paused = {"b"};
  job.settle_down();
  REQUIRE(job.runs("a") == 1);
  job.die(1);
  job.hold = nullptr;
  job.settle_down();
  job.paused.clear();
  job.run();
  for (const char* name : {"a", "b", "c"}) CHECK(job.runs(name) == 1);
  // How long a ran is known to the home that died; that it took no time at all would be a lesson for
  // placement.
  for (const char* name : {"a", "b", "c"}) CHECK(durations_heard[name] == 1);
  CHECK(job.settled.at(a).record.attempt.epoch == Epoch{1, 1});
  CHECK(job.settled.at(b).record.attempt.epoch == Epoch{1, 1});  // Taken to run, and ran on.
  job.fetch(c);
  job.run_until([&] { return job.brought.contains(c); });
  CHECK(job.value(c) == value_of("c", {value_of("b", {value_of("a")})}));
}

TEST_CASE("a new home starts nothing before everybody has reported or died") {
  Names graph;
  const TaskId a = graph.task("a");
  LocalJobOptions options = home_at_1(both());
  options.processes = 4;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"a"};
  job.settle_down();
  const bool reporter_dies = GENERATE(false, true);
  job.die(1);
  const std::uint32_t slow = job.home_process(0) == 2 ? 3 : 2;
  job.hold = [&](const LocalJob::Mail& mail) {
    return std::holds_alternative<message::Report>(mail.message) && mail.from == job.life(slow);
  };
  job.paused.clear();
  job.settle_down();
  CHECK(job.home(0).recounting());
  CHECK(job.home(0).explain(a) == "waits for reports of the other processes after a loss");
  CHECK(job.runs("a") == 0);
  if (reporter_dies) {
    job.die(slow);
  } else {
    job.release_held();
  }
  job.run();
  CHECK(job.runs("a") == 1);
}

// dag-sim chaos --seed 16166: the attempt was taken to run on, and nobody tried the task again.
TEST_CASE("a report that comes twice does not call an attempt running that failed meanwhile") {
  Names graph;
  const TaskId a = graph.task("a");
  graph.attempts(a, 2, std::chrono::seconds(1));
  LocalJobOptions options = home_at_1(Representation::supervised);
  options.place = 2;
  Script script;
  script.failures["a"] = 1;
  LocalJob job(graph.builder.sealed(), script.kernel(), options);
  job.paused = {"a"};
  job.settle_down();
  REQUIRE(job.runs("a") == 0);
  std::vector<LocalJob::Mail> repeated;
  job.hold = [&](const LocalJob::Mail& mail) {
    if (is_a<message::Report>(mail) && mail.from == job.life(2)) repeated.push_back(mail);
    return false;
  };
  job.die(1);
  job.settle_down();
  REQUIRE(repeated.size() == 1);
  REQUIRE_THAT(job.home(0).explain(a), Catch::StartsWith("dispatched to"));
  job.paused.clear();
  job.settle_down();
  REQUIRE(job.runs("a") == 1);
  job.held = std::move(repeated);
  job.release_held();
  job.run();
  CHECK(job.runs("a") == 2);
  CHECK(job.outcome(a) == Outcome::finished);
}

TEST_CASE("an attempt that was lost with its process is run again, and not charged") {
  Names graph;
  const TaskId a = graph.task("a");
  LocalJobOptions options = home_at_1(Representation::supervised);
  options.place = 2;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"a"};
  job.settle_down();
  CHECK(job.home(0).explain(a) == "dispatched to " + to_string(job.life(2).process));
  job.die(2);
  job.paused.clear();
  job.run();
  REQUIRE(job.ran.size() == 1);
  CHECK(job.ran[0].attempt_number == 1);
  CHECK(job.ran[0].id.number == 2);
  CHECK(job.outcome(a) == Outcome::finished);
}

TEST_CASE("what a task spawned is restored when that was settled, else spawned again") {
  Names below;
  const TaskId x = below.task("x"), y = below.task("y", {x});
  Names graph;
  const TaskId p = graph.task("p"), c = graph.task("c", {p});
  Script script;
  script.special["p"] = [&](const KernelCall&) { return spawning(below, y.index); };
  LocalJob job(graph.builder.sealed(), script.kernel(), home_at_1(both()));
  const bool recorded = GENERATE(true, false);
  if (!recorded) {
    job.hold = [](const LocalJob::Mail& mail) {
      const auto* outcomes = std::get_if<message::Outcomes>(&mail.message);
      return outcomes != nullptr && !outcomes->records.empty();
    };
  }
  job.paused = {"y"};
  job.settle_down();
  REQUIRE(job.runs("x") == 1);
  job.die(1);
  job.hold = nullptr;
  job.paused.clear();
  job.run();
  CHECK(job.runs("p") == (recorded ? 1 : 2));
  CHECK(job.value(c) == value_of("c", {value_of("y", {value_of("x")})}));
}

TEST_CASE("a settled output whose holders are gone is made again, with what it is made of") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  LocalJobOptions options;
  options.processes = 2;
  options.homes = {0};
  options.place = 1;
  options.inline_bytes_max = 0;
  options.representation = Representation::supervised;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.run();
  job.settle_down();
  REQUIRE_FALSE(job.value(b));
  job.die(1);
  job.fetch(b);
  job.run_until([&] { return job.brought.contains(b); });
  CHECK(job.value(b) == value_of("b", {value_of("a")}));
  CHECK(job.runs("a") == 2);
  CHECK(job.runs("b") == 2);
  CHECK(job.ran.back().again);
  CHECK(job.cell().settled(b)->attempt.number == 1);  // The record stays as it is.
}

TEST_CASE("an output that is made again and is another one: who asked is told, also after the job's end") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  LocalJobOptions options;
  options.processes = 2;
  options.homes = {0};
  options.place = 1;
  options.inline_bytes_max = 0;
  options.representation = Representation::supervised;
  Script script;
  std::uint64_t count = 0;
  script.special["a"] = [&](const KernelCall&) {
    AttemptEnd ended;
    ended.output = detail::to_blob(++count);
    return ended;
  };
  LocalJob job(graph.builder.sealed(), script.kernel(), options);
  job.run();
  job.settle_down();
  job.die(1);
  job.fetch(b);
  job.run_until([&] { return job.brought.contains(b); });
  REQUIRE(job.brought.at(b).lost);
  CHECK(job.brought.at(b).lost->code == ErrorCode::not_reproducible);
  REQUIRE(job.cell().state().stopped);
  CHECK_FALSE(job.job_ended->stopped);  // The job had ended well.
}

TEST_CASE("a client that waits for bytes when the job is closed is told so") {
  Names graph;
  const TaskId a = graph.task("a");
  LocalJobOptions options;
  options.processes = 2;
  options.homes = {1};
  options.inline_bytes_max = 0;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.run();
  job.hold = is_a<message::Data>;
  job.fetch(a);
  job.settle_down();
  CHECK(job.brought.empty());
  job.cell().close();
  job.told_cell();
  job.settle_down();
  REQUIRE(job.brought.contains(a));
  CHECK(job.brought.at(a).lost);
  job.brought.clear();
  job.fetch(a);
  REQUIRE(job.brought.contains(a));
  CHECK(job.brought.at(a).lost->code == ErrorCode::output_lost);
}

namespace {

struct Actors {
  Names graph;
  TaskId create = graph.actor("A"), first = graph.call(0, "first"),
         save = graph.call(0, "save", {}, detail::CallKind::save), second = graph.call(0, "second"),
         gate = graph.task("gate"), third = graph.call(0, "third", {gate});
  std::uint64_t value() const {
    std::uint64_t state = value_of("A");
    for (const char* name : {"first", "second"}) state = mixed(state, value_of(name));
    return mixed(state, value_of("third", {value_of("gate")}));
  }
};

/// Processes 0 (the cell, and the home of all), 1, where all runs, and 2.
LocalJobOptions actors_at_1(Representation representation) {
  LocalJobOptions options;
  options.processes = 3;
  options.homes = {0};
  options.place = 1;
  options.representation = representation;
  return options;
}

}  // namespace

TEST_CASE("a job actor whose process died comes back from its save and the calls since") {
  Actors actors;
  LocalJobOptions options = actors_at_1(both());
  if (GENERATE(true, false)) options.inline_bytes_max = 0;
  LocalJob job(actors.graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"gate"};
  job.settle_down();
  REQUIRE(job.runs("second") == 1);
  job.die(1);
  job.paused.clear();
  job.run();
  CHECK(job.runs("A restored") == 1);
  CHECK(job.runs("A") == 1);
  CHECK(job.runs("first") == 1);
  CHECK(job.runs("second") == 2);
  CHECK(job.runs("third") == 1);
  job.fetch(actors.third);
  job.run_until([&] { return job.brought.contains(actors.third); });
  CHECK(job.value(actors.third) == actors.value());
}

// A copy of a save that a newer one had taken the place of was sought in vain, and that took a job back to
// its beginning. (tests/cluster/checkpoints_test.cpp, one of four runs: all nodes had been killed.)
TEST_CASE(
    "a save that is gone when somebody looks for it is not made again, whether it is the newest or not") {
  Names graph;
  graph.actor("A");
  graph.call(0, "first");
  const TaskId older = graph.call(0, "save", {}, detail::CallKind::save);
  graph.call(0, "second");
  const TaskId newer = graph.call(0, "save again", {}, detail::CallKind::save);
  const TaskId gate = graph.task("gate"), third = graph.call(0, "third", {gate});
  LocalJobOptions options = actors_at_1(both());
  options.inline_bytes_max = 0;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"gate"};
  job.settle_down();
  const TaskId save = GENERATE_COPY(older, newer);
  const message::Need need{
      JobId{7}, 0, {1, 1}, job.settled.at(save).record.name(), {job.life(0), job.life(1), job.life(2)}};
  job.post(job.life(2), job.life(0), need);
  job.paused.clear();
  job.run();
  CHECK(job.outcome(third) == Outcome::finished);
  for (const char* name : {"A", "first", "second", "save", "save again", "third"}) CHECK(job.runs(name) == 1);
}

// A training went back to its beginning now and then (dag-chaos train).
TEST_CASE("a save that an actor of a group came back from is there for the others, whatever is newer") {
  Names graph;
  graph.actor("A");
  graph.actor("B");
  graph.builder.add_save_group({0, 1});
  for (const std::uint32_t actor : {0u, 1u}) {
    graph.call(actor, actor == 0 ? "a1" : "b1");
    graph.call(actor, "save", {}, detail::CallKind::save);
  }
  const TaskId between = graph.task("between");
  const TaskId a = graph.call(0, "a2", {between}), b = graph.call(1, "b2", {between});
  for (const std::uint32_t actor : {0u, 1u}) graph.call(actor, "save", {}, detail::CallKind::save);
  const TaskId gate_a = graph.task("gate a"), gate_b = graph.task("gate b");
  graph.task("reads a", {a, gate_a});
  const TaskId last = graph.task("reads b", {b, gate_b});
  LocalJobOptions options = actors_at_1(both());
  options.inline_bytes_max = 0;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"between", "gate a", "gate b"};
  job.settle_down();
  // The next saves end, and are not settled when their process dies.
  job.hold = is_a<message::Settled>;
  job.paused.erase("between");
  job.settle_down();
  REQUIRE(job.runs("b2") == 1);
  job.die(1);
  job.paused.erase("gate a");
  job.settle_down();
  REQUIRE(job.runs("A restored") == 1);
  REQUIRE(job.runs("B restored") == 0);
  job.release_held();
  job.settle_down();
  job.paused.clear();
  job.run();
  CHECK(job.outcome(last) == Outcome::finished);
  CHECK(job.runs("B restored") == 1);
  for (const char* name : {"A", "B", "a1", "b1"}) CHECK(job.runs(name) == 1);
}

// The check took minutes: of each call that was added, all that comes before it was looked at, and each of
// those was sought among all calls. (dag-chaos train --steps 400)
TEST_CASE("who counts a long training again adds its calls to where they were, and not by looking at all") {
  constexpr std::uint32_t steps = 1500;
  Names graph;
  graph.actor("A");
  const TaskId train = graph.task("train");
  const TaskId last =
      graph.call(0, "last", {train});  // Behind those of all steps, though it was there first.
  Script script;
  std::uint32_t left = steps;
  script.special["train"] = [&](const KernelCall& call) {
    if (left == 0) return Script().ordinary(call);
    Names below;
    if (--left > 0) {
      const TaskId step = below.call(0, "step");
      return spawning(below, below.task("train", {step}).index);
    }
    const TaskId gate = below.task("gate");
    const TaskId step = below.call(0, "step", {gate});
    return spawning(below, below.task("train", {step}).index);
  };
  LocalJob job(graph.builder.sealed(), script.kernel(), home_at_1(both()));
  job.paused = {"gate"};
  job.settle_down();
  REQUIRE(job.runs("step") == steps - 1);
  job.die(1);
  job.paused.clear();
  job.keep({last});
  job.run();
  CHECK(job.runs("train") == steps + 1);
  std::uint64_t state = value_of("A");
  for (std::uint32_t step = 0; step + 1 < steps; ++step) state = mixed(state, value_of("step"));
  state = mixed(state, value_of("step", {value_of("gate")}));
  CHECK(job.value(last) == mixed(state, value_of("last", {value_of("train", {state})})));
}

// The stages of a pipeline came back one after the other, each when the one before it had got as far as it
// was. (dag-chaos train)
TEST_CASE("actors of a group come back together, if they have calls to come") {
  Names graph;
  for (const char* name : {"A", "B", "C"}) graph.actor(name);
  graph.builder.add_save_group({0, 1, 2});
  for (const char* name : {"a1", "b1", "c1"}) graph.call(static_cast<std::uint32_t>(name[0] - 'a'), name);
  const TaskId gate_a = graph.task("gate a"), gate_b = graph.task("gate b");
  graph.call(0, "a2", {gate_a});
  const TaskId last = graph.call(1, "b2", {gate_b});
  LocalJob job(graph.builder.sealed(), Script().kernel(), actors_at_1(both()));
  job.paused = {"gate a", "gate b"};
  job.settle_down();
  job.die(1);
  job.paused.erase("gate a");
  job.settle_down();
  REQUIRE(job.runs("a2") == 1);
  CHECK(job.runs("B") == 2);
  CHECK(job.runs("b1") == 2);
  CHECK(job.runs("c1") == 1);
  job.paused.clear();
  job.keep({last});
  job.run();
  CHECK(job.value(last) == mixed(mixed(value_of("B"), value_of("b1")), value_of("b2", {value_of("gate b")})));
}

// The record of a training had its data once for each step: 50 MB after 200 steps, which each new leader sent
// to each new home. (dag-chaos train --steps 400)
TEST_CASE("what a task was given and hands on to what it spawns is in the record once") {
  const std::vector<std::uint64_t> data(1000, 7);
  const Blob literal = detail::to_blob(data);
  const auto add_step = [&](Names& names) {
    const TaskId step = names.task("step");
    names.builder.add_literal(literal);
    return step;
  };
  Names graph;
  const TaskId first = add_step(graph);
  Script script;
  std::uint32_t left = 3;
  script.special["step"] = [&](const KernelCall& call) {
    REQUIRE(call.views.size() == 1);
    CHECK(detail::from_blob<std::vector<std::uint64_t>>(call.views[0].values[0]) == data);
    if (left == 0) {
      AttemptEnd ended;
      ended.output = detail::to_blob(value_of("step"));
      return ended;
    }
    Names below;
    const TaskId gate = below.task(--left == 0 ? "last gate" : "gate");
    const TaskId step = add_step(below);
    below.edge(gate, step, detail::EdgeKind::strong);
    return spawning(below, step.index);
  };
  LocalJob job(graph.builder.sealed(), script.kernel(), home_at_1(both()));
  std::size_t told = 0;
  job.hold = [&](const LocalJob::Mail& mail) {
    const auto* outcomes = std::get_if<message::Outcomes>(&mail.message);
    for (std::size_t i = 0; outcomes != nullptr && i < outcomes->records.size(); ++i) {
      const OutcomeRecord& record = outcomes->records[i];
      if (!record.spawned) continue;
      ++told;
      CHECK(record.literals_above.size() == 1);
      for (const Blob& one : record.spawned->literals) CHECK(one.size_bytes() == 0);
    }
    return false;
  };
  job.paused = {"last gate"};
  job.settle_down();
  REQUIRE(told == 3);
  job.die(1);
  job.paused.clear();
  job.keep({first});
  job.run();
  CHECK(job.runs("step") == 4);
  CHECK(job.value(first) == value_of("step"));
}

TEST_CASE("the process of the cell is given each save of a group once, with what belongs together") {
  Names graph;
  graph.actor("A");
  graph.actor("B");
  graph.builder.add_save_group({0, 1});
  for (const char* round : {"1", "2"}) {
    for (const std::uint32_t actor : {0u, 1u}) {
      graph.call(actor, std::string("call ") + round);
      graph.call(actor, std::string("save ") + round, {}, detail::CallKind::save);
    }
  }
  LocalJobOptions options = home_at_1(both());
  options.cell_runs = false;
  options.place = 2;
  if (GENERATE(true, false)) options.inline_bytes_max = 0;  // In the record, or fetched as a copy.
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.run();
  job.settle_down();
  REQUIRE(job.kept_saves.size() == 4);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> saved;
  for (const auto& [at, save] : job.kept_saves) {
    CHECK(at == job.life(0));
    CHECK(save.as.group == 0);
    CHECK(save.as.members == 2);
    saved[{save.as.number, save.as.actor}] = detail::from_blob<std::uint64_t>(save.bytes);
  }
  for (const std::uint32_t actor : {0u, 1u}) {
    const std::uint64_t after_one = mixed(value_of(actor == 0 ? "A" : "B"), value_of("call 1"));
    CHECK(saved.at({1, actor}) == after_one);
    CHECK(saved.at({2, actor}) == mixed(after_one, value_of("call 2")));
  }
}

TEST_CASE("a job actor whose home died too goes on from what is settled") {
  Actors actors;
  LocalJobOptions options = home_at_1(both());
  options.place = GENERATE(1u, 2u);
  LocalJob job(actors.graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"gate"};
  job.settle_down();
  job.die(1);
  job.paused.clear();
  job.run();
  CHECK(job.runs("third") == 1);
  CHECK(job.value(actors.third) == actors.value());
}

TEST_CASE("an older making of a job actor that waits for a lane does not run behind the newer one") {
  Names graph;
  const TaskId gate = graph.task("gate");
  graph.actor("A");
  graph.actor("B");
  graph.builder.add_save_group({0, 1});
  const TaskId a = graph.call(0, "a", {gate});
  graph.call(1, "b", {gate});
  LocalJobOptions options;
  options.processes = 3;
  options.homes = {0};
  options.place = 1;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"A", "gate"};
  job.settle_down();  // B was made at process 1; A waits there for a lane.
  REQUIRE(job.runs("B") == 1);
  job.hold = [](const LocalJob::Mail& mail) { return std::holds_alternative<message::Stop>(mail.message); };
  // B's process is believed dead; a message says otherwise of A's. Both are rolled back, A goes to process 1
  // again.
  message::Return back;
  back.job = JobId{7};
  back.shard = 0;
  back.epoch = {1, 1};
  back.name = {{0, 1}, {{1, 1}, 1}};
  job.post(job.life(1), job.life(0), back);
  job.settle_down();
  job.paused.clear();
  job.run();
  CHECK(job.runs("A") == 1);
  CHECK(job.outcome(a) == Outcome::finished);
}

TEST_CASE("every process that runs anything dies, and the job goes on when one comes up") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a}), c = graph.task("c", {b});
  LocalJobOptions options;
  options.processes = 3;
  options.shards = 2;
  options.shard_of = {0, 1, 0};
  options.cell_runs = false;
  options.representation = both();
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"b"};
  job.run_until([&] { return job.outcome(a) == Outcome::finished; });
  job.die(1);
  job.die(2);
  job.paused.clear();
  job.settle_down();
  CHECK_FALSE(job.wait());
  CHECK_FALSE(job.job_ended);
  job.come_up(2);
  job.run();
  CHECK(job.runs("a") == 1);
  CHECK(job.value(c) == value_of("c", {value_of("b", {value_of("a")})}));
  for (const LocalJob::Ran& ran : job.ran) CHECK(ran.at.process != ProcessId{0});
}
