// How much an attempt may spawn, in which cuts that is told, and how it is numbered when homes come and go.
#include "libdag/base/spawned.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;

namespace {

Blob bytes(std::size_t size) { return Blob(std::vector<std::byte>(size)); }

/// A task below that has this literal.
AttemptEnd spawning_with(const Blob& literal) {
  Names below;
  below.task("child");
  below.builder.add_literal(literal);
  AttemptEnd ended = spawning(below);
  ended.output = detail::to_blob(value_of("parent"));
  return ended;
}

AttemptEnd with_value(std::string_view name) {
  AttemptEnd ended;
  ended.output = detail::to_blob(value_of(name));
  return ended;
}

LocalJobOptions recorded_by(std::uint32_t replicas) {
  LocalJobOptions options = home_at_1(both());
  options.replicas = replicas;
  return options;
}

}  // namespace

// A cut counted them as 128 bytes each. When the cell was slow, or many ended at once, one cut had them all,
// and was larger than any log could hold.
TEST_CASE("a cut closes by the size of what was spawned") {
  constexpr std::size_t each = 100'000, count = 20, cut_bytes_max = 256 * 1024;
  Names graph;
  for (std::size_t i = 0; i < count; ++i) graph.task("parent");
  Script script;
  script.special["parent"] = [&](const KernelCall&) { return spawning_with(bytes(each)); };
  script.special["child"] = [](const KernelCall&) { return with_value("child"); };
  LocalJob job(graph.builder.sealed(), script.kernel(), recorded_by(3));
  job.hold = is_a<message::Outcomes>;
  job.settle_down();
  REQUIRE(job.runs("child") == count);
  std::size_t cuts = 0, told = 0;
  job.release_held();
  job.hold = [&](const LocalJob::Mail& mail) {
    const auto* outcomes = std::get_if<message::Outcomes>(&mail.message);
    if (outcomes == nullptr) return false;
    std::size_t bytes_now = 0;
    for (const OutcomeRecord& record : outcomes->records) {
      if (record.spawned) bytes_now += record.spawned->literals.at(0).size_bytes();
    }
    CHECK(bytes_now <= cut_bytes_max + each);
    cuts += bytes_now > 0 ? 1 : 0;
    told += bytes_now;
    return false;
  };
  job.run();
  CHECK(told + each >= count * each);  // The first may have been held.
  CHECK(cuts >= count * each / (cut_bytes_max + each));
}

TEST_CASE("an attempt that spawns more than the record can hold fails, and says so") {
  const Blob large = bytes(spawned_bytes_max);
  Names graph;
  const TaskId parent = graph.task("parent"), after = graph.task("after");
  Script script;
  script.special["parent"] = [&](const KernelCall&) { return spawning_with(large); };
  script.special["child"] = [](const KernelCall&) { return with_value("child"); };
  SECTION("where the record has copies") {
    LocalJob job(graph.builder.sealed(), script.kernel(), recorded_by(3));
    job.run();
    REQUIRE(job.outcome(parent) == Outcome::failed);
    const Error& why = job.settled.at(parent).record.error.value();
    CHECK_THAT(why.what, Catch::Contains("bytes of tasks and literals at once"));
    CHECK_THAT(why.hint, Catch::Contains("spawn fewer tasks at once"));
    CHECK(job.runs("child") == 0);
    CHECK(job.outcome(after) == Outcome::finished);
    CHECK_FALSE(job.job_ended->stopped);
  }
  SECTION("it is tried as often as any other that fails") {
    graph.attempts(parent, 3);
    LocalJob job(graph.builder.sealed(), script.kernel(), recorded_by(3));
    job.run();
    CHECK(job.outcome(parent) == Outcome::failed);
    CHECK(job.runs("parent") == 3);
  }
  SECTION("not where nobody writes it") {
    LocalJob job(graph.builder.sealed(), script.kernel(), recorded_by(1));
    job.run();
    CHECK(job.outcome(parent) == Outcome::finished);
    CHECK(job.runs("child") == 1);
  }
  SECTION("not what the cell has already: the task's own literal, handed on") {
    Names having;
    const TaskId first = having.task("parent");
    having.builder.add_literal(large);
    LocalJob job(having.builder.sealed(), script.kernel(), recorded_by(3));
    job.run();
    CHECK(job.outcome(first) == Outcome::finished);
    CHECK(job.runs("child") == 1);
  }
  SECTION("also when a home that died has not heard of it, and nobody keeps anything") {
    LocalJobOptions options = home_at_1(Representation::supervised);
    options.replicas = 3;
    options.place = 2;
    Names alone;
    REQUIRE(alone.task("parent") == parent);
    LocalJob job(alone.builder.sealed(), script.kernel(), options);
    job.hold = is_a<message::Ended>;
    job.settle_down();
    REQUIRE(job.runs("parent") == 1);
    job.die(1);
    job.hold = nullptr;
    job.run();
    CHECK(job.outcome(parent) == Outcome::failed);
    CHECK(job.runs("parent") == 1);
    CHECK(job.runs("child") == 0);
    job.settle_down();
    CHECK(job.bytes_held() == 0);
  }
}

// Each home has a block of numbers, there were 256 blocks, and the home after the last one ended the job.
TEST_CASE("what the three hundredth home spawned has numbers that no home before it gave") {
  Names graph;
  const TaskId parent = graph.task("parent");
  Script script;
  script.special["parent"] = [&](const KernelCall&) {
    Names below;
    const TaskId child = below.task("child");
    return spawning(below, child.index);
  };
  LocalJobOptions options = home_at_1(both());
  options.cell_runs = false;
  LocalJob job(graph.builder.sealed(), script.kernel(), options);
  // The spawning is never settled, so each home begins with nothing.
  job.hold = [](const LocalJob::Mail& mail) {
    const auto* outcomes = std::get_if<message::Outcomes>(&mail.message);
    return outcomes != nullptr && !outcomes->records.empty();
  };
  constexpr std::uint32_t losses = 300;
  for (std::uint32_t i = 0; i < losses; ++i) {
    job.settle_down();
    const std::uint32_t home = job.home_process(0);
    job.die(home);
    job.come_up(home);
  }
  job.hold = nullptr;
  job.run();
  REQUIRE_FALSE(job.job_ended->stopped);
  CHECK(job.home(0).epoch() == Epoch{1, losses + 1});
  CHECK(job.value(parent) == value_of("child"));
  std::vector<TaskId> children;
  for (const LocalJob::Ran& ran : job.ran) {
    if (ran.name == "child") children.push_back(ran.task);
  }
  REQUIRE(children.size() == losses + 1);
  // Later ones are greater: so calls of job actors come back in the order in which they were spawned.
  CHECK(std::is_sorted(children.begin(), children.end(), std::less_equal<>()));
  CHECK(children.back().origin > children.front().origin);
}

namespace {

/// Each task spawns two, until so many have run.
struct Spreading {
  explicit Spreading(std::size_t most_runs) : most(most_runs) {
    graph.task("spread");
    script.special["spread"] = [this](const KernelCall&) {
      if (++runs > most) return with_value("spread");
      Names below;
      below.task("spread");
      below.task("spread");
      AttemptEnd ended = spawning(below);
      ended.output = detail::to_blob(value_of("spread"));
      return ended;
    };
  }
  const std::size_t most;
  std::size_t runs = 0;
  Names graph;
  Script script;
};

}  // namespace

TEST_CASE("tasks spawn no further ahead of the record than there is credit") {
  Spreading spreading(1000);
  LocalJobOptions options = recorded_by(3);
  options.spawn_credit = GENERATE(SpawnCredit{.tasks = 20}, SpawnCredit{.bytes = 10'000});
  LocalJob job(spreading.graph.builder.sealed(), spreading.script.kernel(), options);
  job.hold = is_a<message::Outcomes>;
  job.settle_down();
  const std::size_t ahead = spreading.runs;
  CHECK(ahead > 1);
  CHECK(ahead < 100);
  CHECK(job.home(0).spawned_ahead().tasks <= 2 * ahead);
  SECTION("goes on when the record has it") {
    job.hold = nullptr;
    job.release_held();
    job.run();
    CHECK(spreading.runs == 2 * spreading.most + 1);
  }
  SECTION("a cancel stops it there") {
    job.cancel_job();
    job.hold = nullptr;
    job.release_held();
    job.run();
    CHECK(spreading.runs == ahead);
  }
  SECTION("a home that comes after this one has all of the credit") {
    const std::uint32_t home = job.home_process(0);
    job.die(home);
    job.come_up(home);
    job.hold = nullptr;
    job.run();
    CHECK(spreading.runs > spreading.most);
  }
}
