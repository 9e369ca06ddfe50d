// Kernels that give another value each time: what they gave has two copies before it is settled, and stays.
#include <catch2/catch.hpp>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// `drawn` varies, `made` is made from it. Home at process 1, attempts run at 2; values are too large for
/// records.
struct Drawn {
  explicit Drawn(std::uint32_t processes = 4) {
    drawn = graph.task("drawn"), made = graph.task("made", {drawn});
    graph.policy(drawn, [](Policy& policy) { policy.varying = true; });
    script.special["drawn"] = [this](const KernelCall&) {
      AttemptEnd ended;
      ended.output = detail::to_blob(std::uint64_t{100} + ++draws);
      return ended;
    };
    options = home_at_1(Representation::supervised);
    options.processes = processes;
    options.place = 2;
    options.inline_bytes_max = 0;
  }
  std::uint64_t fetched(LocalJob& job, TaskId task) {
    job.fetch(task);
    job.run_until([&] { return job.brought.contains(task); });
    return *job.value(task);
  }
  Names graph;
  TaskId drawn, made;
  Script script;
  LocalJobOptions options;
  std::uint64_t draws = 0;
};

}  // namespace

TEST_CASE("the output of a kernel that varies has a second copy before it is settled") {
  Drawn some;
  LocalJob job(some.graph.builder.sealed(), some.script.kernel(), some.options);
  job.hold = is_a<message::Holding>;
  job.settle_down();
  CHECK(job.runs("made") == 1);  // A pure task runs ahead.
  CHECK(job.outcome(some.drawn) == Outcome::none);
  CHECK(job.outcome(some.made) == Outcome::none);
  CHECK(job.home(0).explain(some.drawn) == "finished, waits until its output has a second copy");
  SECTION("it is made") { job.release_held(); }
  SECTION("who was to make it dies: another one does") {
    REQUIRE(job.held.size() == 1);
    const std::uint32_t second = job.held.front().from.process.value;
    REQUIRE(second != 2);
    if (second == 1) return;  // The home's: another story.
    job.held.clear();
    job.hold = nullptr;
    job.die(second);
  }
  job.run();
  CHECK(some.draws == 1);
  // The first holder dies, then its successor: each time a copy is made anew.
  job.die(2);
  job.settle_down();
  CHECK(some.fetched(job, some.drawn) == 101);
  CHECK(some.draws == 1);
}

TEST_CASE("when a process that is there has lost its copy another one is made") {
  Drawn some;
  LocalJob job(some.graph.builder.sealed(), some.script.kernel(), some.options);
  std::vector<Life> asked_to_copy;
  const auto watch = [&](const LocalJob::Mail& mail) {
    if (is_a<message::Replicate>(mail)) asked_to_copy.push_back(mail.to);
    return false;
  };
  job.hold = watch;
  job.paused = {"made"};
  job.settle_down();
  REQUIRE(asked_to_copy.size() == 1);
  const Life who = GENERATE(true, false) ? job.life(2) : asked_to_copy.front();
  const OutputName name = job.settled.at(some.drawn).record.name();
  job.held.push_back({who, job.life(1), message::Need{JobId{}, 0, job.home(0).epoch(), name, {who}}});
  job.release_held();
  job.hold = watch;
  job.settle_down();
  CHECK(asked_to_copy.size() == 2);
  job.paused.clear();
  job.run();
  CHECK(some.draws == 1);
}

TEST_CASE("what was made from an output that varies is made again from that output") {
  Drawn some;
  LocalJob job(some.graph.builder.sealed(), some.script.kernel(), some.options);
  job.run();
  const std::uint64_t value = value_of("made", {101});
  const bool home_dies = GENERATE(false, true);
  if (home_dies) {
    job.die(1);
    job.settle_down();
  }
  job.die(2);
  job.settle_down();
  CHECK(some.fetched(job, some.made) == value);
  CHECK(some.draws == 1);
  CHECK(job.runs("made") == 2);
}

TEST_CASE("a home that dies before it was settled: the next one takes the value that was drawn") {
  Drawn some;
  LocalJob job(some.graph.builder.sealed(), some.script.kernel(), some.options);
  job.hold = is_a<message::Outcomes>;
  job.settle_down();
  job.die(1);
  job.hold = nullptr;
  job.held.clear();
  job.run();
  CHECK(some.draws == 1);
  CHECK(some.fetched(job, some.made) == value_of("made", {101}));
}

TEST_CASE("with all copies an output that varies is gone, and the job says so") {
  Drawn some;
  LocalJob job(some.graph.builder.sealed(), some.script.kernel(), some.options);
  job.run();
  for (std::uint32_t process = 1; process <= 3; ++process) job.kill(process);
  for (std::uint32_t process = 1; process <= 3; ++process) job.tell_death(process);
  job.come_up(1);
  job.fetch(some.made);
  job.run_until([&] { return job.brought.contains(some.made); });
  REQUIRE(job.brought.at(some.made).lost);
  CHECK(job.brought.at(some.made).lost->code == ErrorCode::not_reproducible);
}

TEST_CASE("in one process nothing is copied") {
  Drawn some;
  some.options.processes = 1;
  some.options.homes = {0};
  some.options.place.reset();
  LocalJob job(some.graph.builder.sealed(), some.script.kernel(), some.options);
  job.run();
  CHECK(job.outcome(some.made) == Outcome::finished);
}
