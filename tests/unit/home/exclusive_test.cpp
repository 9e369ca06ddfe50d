// Tasks that must not run twice at a time: under a lease, and not again before it is over.
#include <catch2/catch.hpp>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

/// Attempts run in process 2; the home is in 1. The record is elsewhere.
struct Excluded {
  Names graph;
  TaskId before = graph.task("before"), alone = graph.task("alone", {before}, Effects::exclusive),
         after = graph.task("after", {alone});
  LocalJobOptions options;
  Excluded() {
    options.processes = 4;
    options.homes = {1};
    options.cell_runs = false;
    options.place = 2;
    options.representation = both();
  }
};

}  // namespace

TEST_CASE("an exclusive task begins under a lease, from settled inputs") {
  Excluded made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), made.options);
  job.hold = is_a<message::LeaseRenewed>;
  job.settle_down();
  CHECK(job.runs("before") == 1);
  CHECK(job.runs("alone") == 0);
  CHECK(job.held.size() == 1);
  SECTION("it comes") { job.release_held(); }
  SECTION("it is lost, and asked for again") {
    job.held.clear();
    job.hold = nullptr;
    const Instant before = job.now;
    job.run();
    CHECK(job.now - before >= exclusive_lease / 4);
  }
  job.run();
  CHECK(job.runs("alone") == 1);
  CHECK(job.outcome(made.after) == Outcome::finished);
}

TEST_CASE("an exclusive task needs no lease where the record lies with who runs it") {
  Excluded made;
  made.options.processes = 1;
  made.options.homes = {0};
  made.options.place = std::nullopt;
  made.options.cell_runs = true;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), made.options);
  job.hold = is_a<message::RenewLease>;
  job.run();
  CHECK(job.held.empty());
  CHECK(job.runs("alone") == 1);
}

TEST_CASE("an exclusive task that was lost starts again when the lease of its process is over") {
  Excluded made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), made.options);
  job.paused = {"alone"};
  job.run_until([&] { return job.waits_at("alone").has_value(); });
  const Instant lost = job.now;
  job.die(2);
  job.settle_down();
  CHECK_FALSE(job.waits_at("alone"));
  CHECK(job.home(0).explain(made.alone) == "waits until the lease of a lost process has expired");
  job.paused.clear();
  job.run();
  CHECK(job.now - lost >= reissue_after(exclusive_lease));
  CHECK(job.runs("alone") == 1);
  CHECK(job.outcome(made.after) == Outcome::finished);
}

TEST_CASE("an exclusive task goes on when its home is lost, and one that was lost with it waits") {
  Excluded made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), made.options);
  job.paused = {"alone"};
  job.run_until([&] { return job.waits_at("alone").has_value(); });
  const Instant lost = job.now;
  SECTION("its home") {
    job.die(1);
    job.settle_down();
    CHECK(job.waits_at("alone") == 2);
    job.paused.clear();
    job.run();
    CHECK(job.now - lost < exclusive_lease);
  }
  SECTION("both, and nobody is left who knew where it ran") {
    job.die(2);
    job.die(1);
    job.settle_down();
    CHECK_FALSE(job.waits_at("alone"));
    job.paused.clear();
    job.run();
    CHECK(job.now - lost >= reissue_after(exclusive_lease));
  }
  CHECK(job.runs("alone") == 1);
  CHECK(job.outcome(made.after) == Outcome::finished);
}

TEST_CASE("an exclusive task that had not been started waits for nobody's lease after a loss") {
  Excluded made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), made.options);
  SECTION("its turn had not come") {
    job.paused = {"before"};
    job.run_until([&] { return job.waits_at("before").has_value(); });
  }
  SECTION("that it was to start had not been recorded") {
    job.hold = is_a<message::Outcomes>;
    job.settle_down();
    job.held.clear();
    job.hold = nullptr;
  }
  const Instant lost = job.now;
  job.die(2);
  job.die(1);
  job.paused.clear();
  job.run();
  CHECK(job.now - lost < exclusive_lease);
  CHECK(job.runs("alone") == 1);
  CHECK(job.outcome(made.after) == Outcome::finished);
}

TEST_CASE("an exclusive task that failed is tried again at once: its kernel has returned") {
  Excluded made;
  made.graph.attempts(made.alone, 3);
  Script script;
  script.failures["alone"] = 2;
  LocalJob job(made.graph.builder.sealed(), script.kernel(), made.options);
  job.run();
  CHECK(job.now.since_start < exclusive_lease);
  CHECK(job.runs("alone") == 3);
}

TEST_CASE("a process that cannot renew its lease ends before another one may begin") {
  Excluded made;
  LocalJob job(made.graph.builder.sealed(), Script().kernel(), made.options);
  job.paused = {"alone"};
  job.run_until([&] { return job.waits_at("alone").has_value(); });
  const Instant begun = job.now;
  SECTION("nobody answers") {
    job.hold = is_a<message::LeaseRenewed>;
    job.run_until([&] { return !job.leases_lost.empty(); });
    CHECK(job.leases_lost == std::vector{job.life(2)});
    CHECK(job.now - begun == exclusive_lease * 7 / 8);
  }
  SECTION("it is renewed for as long as the kernel runs") {
    while (job.now - begun < 10 * exclusive_lease) {
      job.settle_down();
      REQUIRE(job.wait());
    }
    CHECK(job.leases_lost.empty());
    job.paused.clear();
    job.run();
    CHECK(job.outcome(made.after) == Outcome::finished);
    CHECK(job.runs("alone") == 1);
  }
  SECTION("the cell takes it for dead, and it does not know") {
    job.tell_death(2);
    job.run_until([&] { return !job.leases_lost.empty(); });
    CHECK(job.now - begun <= exclusive_lease * 7 / 8);
    CHECK(job.runs("alone") == 0);
  }
}
