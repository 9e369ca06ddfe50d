// Tasks that may run only once: settled before they start, never started again.
#include <catch2/catch.hpp>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

struct Once {
  Names graph;
  TaskId before = graph.task("before"), once = graph.task("once", {before}, Effects::at_most_once),
         after = graph.task("after", {once});
};

/// Attempts run in process 1; the home is there, or in 2.
LocalJobOptions home_at(std::uint32_t home) {
  LocalJobOptions options;
  options.processes = 3;
  options.homes = {home};
  options.cell_runs = false;
  options.place = 1;
  options.representation = both();
  return options;
}

void lose(LocalJob& job, std::uint32_t process) {
  job.kill(process);
  job.cell().on_life_down(job.life(process), job.now);
  job.told_cell();
  job.come_up(process);
}

}  // namespace

TEST_CASE("what may run only once does when that is settled, and from settled inputs") {
  Once made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), home_at(GENERATE(1u, 2u)));
  job.hold = is_a<message::Outcomes>;
  job.settle_down();
  CHECK(job.runs("before") == 1);
  CHECK(job.runs("once") == 0);
  CHECK(job.home(0).explain(made.once) == "has effects: waits until its inputs are settled");
  // Its predecessors are settled, its start is not.
  job.release_held();
  job.hold = [&](const LocalJob::Mail& mail) {
    const auto* outcomes = std::get_if<message::Outcomes>(&mail.message);
    return outcomes != nullptr && !outcomes->started.empty();
  };
  job.settle_down();
  CHECK(job.runs("once") == 0);
  CHECK(job.home(0).explain(made.once) == "waits until its start is settled");
  job.release_held();
  job.run();
  CHECK(job.runs("once") == 1);
  CHECK(job.outcome(made.after) == Outcome::finished);
}

TEST_CASE("what may run only once and is lost while it runs has failed: nobody knows how far it came") {
  Once made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), home_at(GENERATE(1u, 2u)));
  job.paused = {"once"};
  job.run_until([&] { return job.waits_at("once").has_value(); });
  lose(job, 1);
  job.paused.clear();
  job.run();
  CHECK(job.runs("once") == 0);  // The one that was paused went with its process.
  CHECK(job.outcome(made.once) == Outcome::failed);
  const Error& error = *job.settled.at(made.once).record.error;
  CHECK(error.code == ErrorCode::outcome_unknown);
  CHECK(error.what ==
        "task 'once' (1) may run only once, and was lost while it ran: nobody knows how far it came");
  CHECK(job.outcome(made.after) == Outcome::cancelled);
}

TEST_CASE("what may run only once goes on when only its home is lost") {
  Once made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), home_at(2));
  job.paused = {"once"};
  job.run_until([&] { return job.waits_at("once").has_value(); });
  lose(job, 2);
  job.settle_down();
  job.paused.clear();
  job.run();
  CHECK(job.runs("once") == 1);
  CHECK(job.outcome(made.once) == Outcome::finished);
  CHECK(job.outcome(made.after) == Outcome::finished);
}

TEST_CASE("what may run only once fails like others, and what takes its process down is charged") {
  Once made;
  Script script;
  const bool crashes = GENERATE(true, false);
  if (!crashes) script.failures["once"] = 1;
  LocalJob job(made.graph.builder.sealed(), script.kernel(), home_at(2));
  if (crashes) {
    job.paused = {"once"};
    job.run_until([&] { return job.waits_at("once").has_value(); });
    const LifeEnd end{ProcessEnd::faulted, "signal 11", {{made.once, {{1, 1}, 1}, 0}}, 0};
    job.kill(1);
    job.cell().on_life_down(job.life(1), job.now, end);
    job.told_cell();
    job.come_up(1);
    job.paused.clear();
  }
  job.run();
  CHECK(job.outcome(made.once) == Outcome::failed);
  CHECK(job.settled.at(made.once).record.error->code ==
        (crashes ? ErrorCode::process_crashed : ErrorCode::task_failed));
  CHECK(job.runs("once") == (crashes ? 0 : 1));
}
