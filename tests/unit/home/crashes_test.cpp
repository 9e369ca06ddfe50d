// A task that takes its process down has used up a try; other tasks in the same process have not.
#include <catch2/catch.hpp>

#include "libdag/supervision/blame.hpp"
#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// `task`, which is `name`, takes down the process that it was given to; that one comes up again.
void crash(LocalJob& job, TaskId task, const std::string& name, std::vector<TaskId> beside = {}) {
  job.run_until([&] { return job.waits_at(name).has_value(); });
  const std::uint32_t process = *job.waits_at(name);
  LifeEnd end{ProcessEnd::faulted, "signal 11", {{task, {{1, 1}, 1}, 0}}, 0};
  for (const TaskId other : beside) {
    end.running.push_back({other, {{1, 1}, 1}, static_cast<std::uint32_t>(end.running.size())});
  }
  job.kill(process);
  job.cell().on_life_down(job.life(process), job.now, end);
  job.told_cell();
  job.come_up(process);
}

struct Poisoned {
  explicit Poisoned(std::uint32_t attempts) {
    graph.attempts(poison, attempts, std::chrono::milliseconds(100));
  }
  Names graph;
  TaskId before = graph.task("before"), poison = graph.task("poison", {before}),
         beside = graph.task("beside"), after = graph.task("after", {poison});
};

LocalJobOptions home_at(std::uint32_t home, Representation representation) {
  LocalJobOptions options;
  options.processes = 3;
  options.homes = {home};
  options.cell_runs = false;
  options.representation = representation;
  return options;
}

}  // namespace

TEST_CASE(
    "a task that takes its process down as often as it may be tried has failed; those beside it have not") {
  const std::uint32_t attempts = GENERATE(1u, 3u);
  Poisoned made(attempts);
  // The home is in the process that goes down, or in another.
  const std::uint32_t home = GENERATE(1u, 2u);
  LocalJobOptions options = home_at(home, both());
  options.place = 1;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"poison", "beside"};
  for (std::uint32_t i = 0; i < attempts; ++i) {
    REQUIRE(job.outcome(made.poison) == Outcome::none);
    crash(job, made.poison, "poison", {made.beside});
  }
  job.paused = {"poison"};
  job.run();
  CHECK(job.runs("poison") == 0);
  CHECK(job.outcome(made.poison) == Outcome::failed);
  const Error& error = *job.settled.at(made.poison).record.error;
  CHECK(error.code == ErrorCode::process_crashed);
  CHECK(error.what == "task 'poison' (1) crashed its process" + std::string(attempts > 1 ? " 3 times" : "") +
                          ": signal 11");
  CHECK(job.outcome(made.after) == Outcome::cancelled);
  CHECK(job.outcome(made.beside) == Outcome::finished);  // The task has only one try.
  CHECK(job.runs("before") <= 1 + attempts);
}

TEST_CASE("a crash and a failure are tries alike, and the kernel is told which one it is") {
  Poisoned made(3);
  LocalJobOptions options = home_at(2, both());
  options.place = 1;
  Script script;
  script.failures["poison"] = 2;
  LocalJob job(made.graph.builder.sealed(), script.kernel(), options);
  job.paused = {"poison"};
  crash(job, made.poison, "poison");
  job.paused.clear();
  job.run();
  std::vector<std::uint32_t> tries;
  for (const LocalJob::Ran& ran : job.ran) {
    if (ran.name == "poison") tries.push_back(ran.attempt_number);
  }
  CHECK(tries == std::vector<std::uint32_t>{2, 3});
  CHECK(job.outcome(made.after) == Outcome::finished);
  REQUIRE(job.troubles.size() == 2);
  CHECK(job.troubles[0].kind == Troubled::Kind::crash);
  CHECK(job.troubles[0].number == 1);
  CHECK_THAT(job.troubles[0].text, Catch::StartsWith("attempt 1 crashed its process: "));
  CHECK(job.troubles[1].kind == Troubled::Kind::retry);
  CHECK(job.troubles[1].number == 2);
}

TEST_CASE("the last try may be one that throws") {
  Poisoned made(2);
  LocalJobOptions options = home_at(2, both());
  options.place = 1;
  Script script;
  script.failures["poison"] = 9;
  LocalJob job(made.graph.builder.sealed(), script.kernel(), options);
  job.paused = {"poison"};
  crash(job, made.poison, "poison");
  job.paused.clear();
  job.run();
  CHECK(job.runs("poison") == 1);
  CHECK(job.outcome(made.poison) == Outcome::failed);
  CHECK(job.settled.at(made.poison).record.error->code == ErrorCode::task_failed);
}

TEST_CASE("a pause lies between a crash and the next try") {
  Poisoned made(2);
  LocalJobOptions options = home_at(2, both());
  options.place = 1;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"poison"};
  crash(job, made.poison, "poison");
  job.paused.clear();
  job.settle_down();
  CHECK(job.runs("poison") == 0);
  CHECK(job.home(0).explain(made.poison) == "waits for its next attempt");
  job.run();
  CHECK(job.runs("poison") == 1);
  CHECK(job.outcome(made.poison) == Outcome::finished);
}

TEST_CASE("a job actor's call that takes its process down is charged like a task") {
  Names graph;
  graph.actor("A");
  const TaskId first = graph.call(0, "first"), poison = graph.call(0, "poison"),
               after = graph.call(0, "after");
  const TaskId last = graph.task("last");
  graph.edge(after, last, detail::EdgeKind::weak);
  graph.attempts(poison, 2);
  LocalJobOptions options = home_at(GENERATE(1u, 2u), both());
  options.place = 1;
  const bool once = GENERATE(true, false);
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.keep({poison});
  job.paused = {"poison"};
  for (int i = 0; i < (once ? 1 : 2); ++i) {
    crash(job, poison, "poison");
  }
  if (once) job.paused.clear();
  job.run();
  CHECK(job.outcome(first) == Outcome::finished);
  CHECK(job.outcome(last) == Outcome::finished);
  if (once) {
    const std::uint64_t state = mixed(value_of("A"), value_of("first"));
    CHECK(job.value(poison) == mixed(state, value_of("poison")));
    CHECK(job.outcome(after) == Outcome::finished);
  } else {
    CHECK(job.outcome(poison) == Outcome::failed);
    CHECK(job.settled.at(poison).record.error->code == ErrorCode::process_crashed);
    CHECK(job.outcome(after) == Outcome::cancelled);
  }
}

TEST_CASE("an ended task that takes processes down when it is run again stops the job") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b");
  LocalJobOptions options = home_at(2, Representation::supervised);
  options.place = 1;
  options.inline_bytes_max = 0;
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"b"};
  job.run_until([&] { return job.outcome(a) == Outcome::finished; });
  job.settle_down();
  job.paused = {"a", "b"};
  job.die(1);
  job.come_up(1);
  job.fetch(a);
  for (int i = 0; i < 5; ++i) {
    REQUIRE_FALSE(job.job_ended);
    crash(job, a, "a");
  }
  job.run();
  REQUIRE(job.job_ended->stopped);
  CHECK(job.job_ended->stopped->code == ErrorCode::process_crashed);
  job.settle_down();
  REQUIRE(job.brought.contains(a));
  CHECK(job.brought.at(a).lost);
  CHECK(job.outcome(b) == Outcome::none);
}

// ---- Suspects: the task that killed the process is not known

namespace {

/// The process that has the row that is `name` ends like this; these ran there. Others do its work.
void goes_down(LocalJob& job, const std::string& name, LifeEnd end) {
  job.run_until([&] { return job.waits_at(name).has_value(); });
  const std::uint32_t process = *job.waits_at(name);
  job.kill(process);
  job.cell().on_life_down(job.life(process), job.now, end);
  job.told_cell();
}
LifeEnd killed(std::vector<TaskId> tasks) {
  LifeEnd end{ProcessEnd::killed, "signal 9", {}, {}};
  for (const TaskId task : tasks)
    end.running.push_back({task, {{1, 1}, 1}, static_cast<std::uint32_t>(end.running.size())});
  return end;
}

}  // namespace

TEST_CASE("what ran where a process was killed runs again with nothing beside it, and is not charged") {
  Poisoned made(1);
  LocalJobOptions options = home_at(GENERATE(1u, 2u), both());
  options.place = 1;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"poison", "beside"};
  goes_down(job, "poison", killed({made.poison, made.beside}));
  job.settle_down();
  for (const TaskId task : {made.poison, made.beside}) {
    CHECK_THAT(job.home(0).explain(task),
               Catch::Contains("with nothing beside it: it was in a process that nobody knows who killed"));
  }
  CHECK_THAT(job.home(0).explain(made.after), !Catch::Contains("beside"));
  job.paused.clear();
  job.run();
  CHECK(job.runs("poison") == 1);
  for (const TaskId task : {made.poison, made.beside, made.after})
    CHECK(job.outcome(task) == Outcome::finished);
}

TEST_CASE("a task with which processes are killed again and again fails, and says what may be the matter") {
  Poisoned made(1);
  LocalJobOptions options = home_at(2, both());
  options.place = 1;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"poison"};
  for (int times = 0; times < 3; ++times) {
    REQUIRE(job.outcome(made.poison) == Outcome::none);
    goes_down(job, "poison", killed({made.poison}));
    job.come_up(1);
    job.come_up(2);
  }
  job.run();
  CHECK(job.runs("poison") == 0);
  REQUIRE(job.outcome(made.poison) == Outcome::failed);
  const Error error = *job.settled.at(made.poison).record.error;
  CHECK(error.code == ErrorCode::process_crashed);
  CHECK(error.what ==
        "task 'poison' (1) ran in 3 processes that were killed, at last with nothing beside it");
  CHECK(error.cause == "signal 9");
  CHECK(job.outcome(made.after) == Outcome::cancelled);
}

TEST_CASE(
    "what took two processes down runs with nothing beside it from then on, however many tries it has") {
  Poisoned made(20);
  LocalJobOptions options = home_at(2, both());
  options.place = 1;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"poison"};
  for (std::uint32_t times = 1; times <= 5; ++times) {
    crash(job, made.poison, "poison");
    job.run_until([&] { return job.waits_at("poison").has_value(); });
    const std::string why = job.home(0).explain(made.poison);
    INFO(why);
    if (times < quarantined_after) {
      CHECK_THAT(why, !Catch::Contains("nothing beside it"));
    } else {
      CHECK_THAT(why, Catch::EndsWith("to run with nothing beside it: it crashed " + std::to_string(times) +
                                      " processes"));
    }
  }
  job.paused.clear();
  job.run();
  CHECK(job.outcome(made.poison) == Outcome::finished);
}

// ---- Quarantine: nobody starts another process, and the client is in one of them

namespace {

/// As `dag run` makes it: process 0 has the record, and runs what others run.
LocalJobOptions run_of(std::uint32_t processes, std::uint32_t home) {
  LocalJobOptions options;
  options.processes = processes;
  options.homes = {home};
  options.quarantine = true;
  options.places = {{"poison", 1}};
  // A plain row would run at its home.
  options.representation = home == 0 ? Representation::supervised : both();
  return options;
}
LifeEnd faulted(TaskId task) { return {ProcessEnd::faulted, "signal 11", {{task, {{1, 1}, 1}, 0}}, 0}; }

}  // namespace

TEST_CASE("where nobody starts another process, a task that took two down is tried no more") {
  Poisoned made(20);
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), run_of(5, GENERATE(0u, 1u)));
  job.paused = {"poison"};
  for (int times = 0; times < 2; ++times) {
    REQUIRE(job.outcome(made.poison) == Outcome::none);
    job.run_until([&] { return job.waits_at("poison").has_value(); });
    CHECK(*job.waits_at("poison") != 0);
    goes_down(job, "poison", faulted(made.poison));
  }
  job.run();
  REQUIRE(job.outcome(made.poison) == Outcome::failed);
  CHECK(job.settled.at(made.poison).record.error->what ==
        "task 'poison' (1) crashed its process 2 times: signal 11");
  CHECK(job.cell().state().lives.size() == 3);
  CHECK(job.outcome(made.beside) == Outcome::finished);
}

TEST_CASE("what may take a process down does not run where the record is, as long as there is another") {
  Poisoned made(20);
  const bool certain = GENERATE(true, false);
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), run_of(3, GENERATE(0u, 1u)));
  job.paused = {"poison"};
  goes_down(job, "poison", certain ? faulted(made.poison) : killed({made.poison}));
  job.run_until([&] { return job.waits_at("poison").has_value(); });
  CHECK(*job.waits_at("poison") == 2);
  job.paused.clear();
  job.run();
  CHECK(job.outcome(made.poison) == Outcome::finished);
}

TEST_CASE("the last process is not given what took the others down, and is not denied to who was beside it") {
  Poisoned made(20);
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), run_of(2, 0));
  job.paused = {"poison"};
  SECTION("it did") {
    goes_down(job, "poison", faulted(made.poison));
    job.run();
    CHECK(job.runs("poison") == 0);
    REQUIRE(job.outcome(made.poison) == Outcome::failed);
    const Error error = *job.settled.at(made.poison).record.error;
    CHECK(error.code == ErrorCode::process_crashed);
    CHECK(error.what ==
          "task 'poison' (1) crashed its process, and is not tried in the last one, where the client "
          "is");
    CHECK_THAT(error.hint, Catch::Contains("--isolate"));
    CHECK(error.cause == "signal 11");
  }
  SECTION("nobody knows") {
    goes_down(job, "poison", killed({made.poison}));
    job.paused.clear();
    job.run();
    CHECK(job.outcome(made.poison) == Outcome::finished);
  }
}

// ---- Failures: what the kernel threw

namespace {

std::vector<std::uint32_t> tries_of(const LocalJob& job, const std::string& name) {
  std::vector<std::uint32_t> tries;
  for (const LocalJob::Ran& ran : job.ran) {
    if (ran.name == name) tries.push_back(ran.attempt_number);
  }
  return tries;
}

}  // namespace

TEST_CASE("failures count across the death of the home: neither a try more nor one less") {
  Poisoned made(4);
  LocalJobOptions options = home_at(2, both());
  const std::uint32_t failures = GENERATE(3u, 9u);
  Script script;
  script.failures["poison"] = failures;
  LocalJob job(made.graph.builder.sealed(), script.kernel(), options);
  for (const std::size_t after : {1u, 2u}) {
    job.run_until([&] { return job.runs("poison") == after; });
    job.settle_down();  // The next try pauses; the failure is settled.
    REQUIRE(job.runs("poison") == after);
    const Life home = job.cell().state().homes[0].home;
    job.die(home.process.value);
    job.come_up(home.process.value);
  }
  job.run();
  CHECK(tries_of(job, "poison") == std::vector<std::uint32_t>{1, 2, 3, 4});
  CHECK(job.outcome(made.poison) == (failures == 3 ? Outcome::finished : Outcome::failed));
  if (failures == 3) return;
  CHECK_THAT(job.settled.at(made.poison).record.error->what, Catch::Contains("failed 4 times"));
  CHECK(job.settled.at(made.poison).record.tries == 4);
}

TEST_CASE("no task is tried again before its failure is settled") {
  Poisoned made(2);
  LocalJobOptions options = home_at(2, both());
  Script script;
  script.failures["poison"] = 1;
  LocalJob job(made.graph.builder.sealed(), script.kernel(), options);
  job.hold = [](const LocalJob::Mail& mail) {
    const auto* outcomes = std::get_if<message::Outcomes>(&mail.message);
    return outcomes != nullptr && !outcomes->tried.empty();
  };
  job.run_until([&] { return job.runs("poison") == 1; });
  job.settle_down();
  while (job.wait()) job.settle_down();  // Its pause is over, and nothing else will happen.
  CHECK(job.runs("poison") == 1);
  CHECK(job.home(0).explain(made.poison) == "waits until its failure is settled");
  job.release_held();
  job.run();
  CHECK(job.runs("poison") == 2);
  CHECK(job.outcome(made.poison) == Outcome::finished);
}
