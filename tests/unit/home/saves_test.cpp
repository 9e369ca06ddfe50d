// Saves of job actors that may be left out: when they are made, and that all of a group are, or none.

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;

namespace {

/// Two actors that feed each other. Each step takes four seconds, and behind it they may be saved.
struct Training {
  Names graph;
  TaskId last;
  explicit Training(int steps, Duration every) {
    for (const char* name : {"A", "B"}) graph.actor(name);
    graph.builder.add_save_group({0, 1});
    for (int step = 0; step < steps; ++step) {
      last = graph.call(1, "b", {step == 0 ? graph.call(0, "a") : graph.call(0, "a", {last})});
      for (const std::uint32_t actor : {0u, 1u}) {
        const TaskId save = graph.call(actor, actor == 0 ? "save A" : "save B", {}, detail::CallKind::save);
        graph.policy(save, [&](Policy& policy) { policy.checkpoint = every; });
      }
    }
  }
};

struct Timed {
  LocalJob* job = nullptr;
  Script script;
  Timed() {
    script.special["a"] = [this](const KernelCall& call) {
      if (!call.again) job->now = job->now + 4s;
      return Script().ordinary(call);
    };
  }
};

LocalJobOptions actors_at_1(std::uint32_t home) {
  LocalJobOptions options;
  options.processes = 3;
  options.homes = {home};
  options.place = 1;
  return options;
}

}  // namespace

TEST_CASE("saves that may be left out are made when it is time, of all actors of a group") {
  Training training(6, 10s);
  Timed timed;
  LocalJob job(training.graph.builder.sealed(), timed.script.kernel(), actors_at_1(2));
  timed.job = &job;
  job.run();
  // After 12 s and after 24 s.
  CHECK(job.runs("save A") == 2);
  CHECK(job.runs("save B") == 2);
  CHECK(job.outcome(training.last) == Outcome::finished);
}

TEST_CASE("actors come back from the newest save that was not left out") {
  Training training(5, 10s);
  const TaskId gate = training.graph.task("gate");
  const TaskId end = training.graph.call(0, "end", {gate, training.last});
  Timed timed;
  const bool home_dies = GENERATE(false, true);
  LocalJob job(training.graph.builder.sealed(), timed.script.kernel(), actors_at_1(home_dies ? 1 : 2));
  timed.job = &job;
  job.paused = {"gate"};
  job.settle_down();
  REQUIRE(job.runs("a") == 5);
  job.die(1);
  if (home_dies) job.come_up(1);
  job.paused.clear();
  job.run();
  CHECK(job.outcome(end) == Outcome::finished);
  CHECK(job.runs("A") == 1);
  CHECK(job.runs("A restored") == 1);
  CHECK(job.runs("a") == 5 + 2);  // Those after the third step.
}

TEST_CASE("how often actors are saved follows from what saves cost and how often processes are lost") {
  Training training(300, 0s);
  Timed timed;
  timed.script.special["save A"] = [&](const KernelCall& call) {
    timed.job->now = timed.job->now + 500ms;
    return Script().ordinary(call);
  };
  LocalJob job(training.graph.builder.sealed(), timed.script.kernel(), actors_at_1(2));
  timed.job = &job;
  job.run();
  // 300 steps of 4 s, and one process in an hour of three: sqrt(2 * 0.5 s * 3,600 s) and more is 60 s.
  CHECK(job.runs("save A") >= 10);
  CHECK(job.runs("save A") <= 24);
  CHECK(job.runs("save B") == job.runs("save A"));
}
