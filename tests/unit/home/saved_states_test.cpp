// Tasks that save their state: holders of states, and attempts that start from them.

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// before -> long -> after, where `long` saves its state.
struct Saving {
  Names graph;
  TaskId before = graph.task("before"), task = graph.task("long", {before}),
         after = graph.task("after", {task});
  Saving() {
    graph.policy(task, [](Policy& policy) { policy.checkpoint = std::chrono::nanoseconds(0); });
  }
};

/// The attempt at process 1, its home at `home`, of processes 0 (the cell) to 3.
LocalJobOptions home_at(std::uint32_t home) {
  LocalJobOptions options;
  options.processes = 4;
  options.homes = {home};
  options.place = 1;
  return options;
}

void run_until_paused(LocalJob& job) {
  job.paused = {"long"};
  job.run_until([&] { return job.waits_at("long").has_value(); });
}

void lose(LocalJob& job, std::uint32_t process) {
  job.kill(process);
  job.tell_death(process);
  job.come_up(process);
}

void let_it_end(LocalJob& job) {
  job.settle_down();
  job.paused.clear();
  job.run();
}

}  // namespace

TEST_CASE("an attempt goes on from what a lost one saved last, wherever its home is") {
  Saving made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), home_at(GENERATE(1u, 2u)));
  run_until_paused(job);
  job.save("long", 10);
  job.save("long", 20);
  job.save("long", 30);
  job.settle_down();
  lose(job, 1);
  let_it_end(job);
  CHECK(job.restored["long"] == std::vector<std::uint64_t>{30});
  CHECK(job.outcome(made.task) == Outcome::finished);
  CHECK(job.value(made.after) == value_of("after", {value_of("long", {value_of("before")})}));
}

TEST_CASE("a second loss goes on from what the attempt before saved, which had gone on itself") {
  Saving made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), home_at(2));
  run_until_paused(job);
  job.save("long", 10);
  job.settle_down();
  lose(job, 1);
  job.run_until([&] { return job.waits_at("long").has_value(); });
  const bool saved_again = GENERATE(true, false);
  if (saved_again) job.save("long", 40);
  job.settle_down();
  lose(job, job.waits_at("long").value());
  let_it_end(job);
  CHECK(job.restored["long"] == std::vector<std::uint64_t>{saved_again ? 40u : 10u});
}

TEST_CASE("a saved state of which no copy was made in time is not waited for") {
  Saving made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), home_at(2));
  run_until_paused(job);
  job.save("long", 10);
  job.settle_down();
  job.hold = [](const LocalJob::Mail& mail) {
    return std::holds_alternative<message::Replicate>(mail.message);
  };
  job.save("long", 20);
  job.settle_down();
  lose(job, 1);
  job.release_held();
  let_it_end(job);
  CHECK(job.restored["long"] == std::vector<std::uint64_t>{10});
}

TEST_CASE("nothing is kept of a task that is settled, and a task that was not told to saves nothing") {
  const auto grown_and_left = [](bool told) {
    Saving made;
    if (!told) made.graph.policy(made.task, [](Policy& policy) { policy.checkpoint.reset(); });
    LocalJobOptions options = home_at(2);
    options.representation = Representation::supervised;
    LocalJob job(made.graph.builder.sealed(), Script().kernel(), options);
    run_until_paused(job);
    job.settle_down();
    const std::uint64_t before = job.bytes_held();
    job.save("long", 10);
    job.settle_down();
    const std::uint64_t grown = job.bytes_held() - before;
    job.paused.clear();
    job.run();
    job.settle_down();
    CHECK(job.restored.empty());
    return std::pair(grown, job.bytes_held());
  };
  const auto told = grown_and_left(true), untold = grown_and_left(false);
  CHECK(told.first == 2 * sizeof(std::uint64_t));  // And a copy.
  CHECK(untold.first == 0);
  CHECK(told.second == untold.second);
}
