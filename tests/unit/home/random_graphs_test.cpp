// Random graphs, run by real homes, against the oracle: whatever the number of processes and shards, the
// order of things and the representation of rows, each task ends as the oracle says, with the oracle's value.
// And the records of a run with bare rows are those of a run in which every task is supervised, per task, in
// their order, as far as records can be compared (libdag/journal/outcome.hpp says what is and why).
#include <catch2/catch.hpp>

#include "tests/support/histories.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/home/local_job.hpp"
#include "tools/sim/program.hpp"

using namespace dag;

namespace {

constexpr std::uint64_t graphs = test::sanitized ? 600 : 10'000;

struct Drawn {
  test::RandomGraphOptions graph;
  test::LocalJobOptions job;
};

Drawn drawn(std::uint64_t seed, Random& random) {
  Drawn options;
  options.graph.tasks_max = 3 + static_cast<std::uint32_t>(random.below(40));
  options.graph.spawn_depth_max = static_cast<std::uint32_t>(random.below(3));
  options.graph.actors_max = random.chance(0.3) ? 3 : 0;
  options.graph.groups = seed % 3 == 0;
  options.job.processes = 1 + static_cast<std::uint32_t>(random.below(3));
  options.job.shards = 1 + static_cast<std::uint32_t>(random.below(3));
  options.job.seed = seed;
  options.job.shuffled = random.chance(0.7);
  options.job.twice = random.chance(0.3);
  options.job.cell_runs = options.job.processes == 1 || random.chance(0.7);
  if (random.chance(0.3)) options.job.place = static_cast<std::uint32_t>(random.below(options.job.processes));
  return options;
}

/// Calls of an actor are in the shard of its creation, the members of a group in one; else any shard will do.
std::vector<ShardIndex> shards_of(const detail::Fragment& fragment, std::uint32_t shards, Random& random) {
  std::vector<ShardIndex> shard_of, of_actor(fragment.actors.size());
  for (ShardIndex& shard : of_actor) shard = static_cast<ShardIndex>(random.below(shards));
  std::vector<ShardIndex> of_group(fragment.groups.size());
  for (ShardIndex& shard : of_group) shard = static_cast<ShardIndex>(random.below(shards));
  // A save group lies in one shard, and a task that may call an actor lies with it: here all of them may.
  const bool together = !fragment.actors.empty();
  const auto one = static_cast<ShardIndex>(random.below(shards));
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    const bool call = fragment.kind(task).call != detail::CallKind::ordinary;
    const std::optional<std::uint32_t> group = fragment.policy(task).group;
    shard_of.push_back(together && call ? one
                       : group          ? of_group[*group]
                                        : static_cast<ShardIndex>(random.below(shards)));
  }
  return shard_of;
}

using Histories = std::map<std::string, std::vector<std::string>>;
struct Checked {
  Histories histories;
  std::uint64_t elsewhere = 0;  ///< runs at another process than the home
  std::uint64_t told_by_lanes = 0;
};

/// The surroundings: nodes whose loads change; a listener that hears of records and keeps every output.
struct Circumstances {
  bool changing_loads = false;
  bool listened = true;
  bool rings = false;
  bool plain = false;  ///< most tasks are bare rows
};

Checked check(std::uint64_t seed, Representation representation, Circumstances circumstances = {}) {
  Random random(seed);
  Drawn options = drawn(seed, random);
  options.job.changing_loads = circumstances.changing_loads;
  options.job.rings = circumstances.rings;
  if (circumstances.plain) {
    options.graph.joins = options.graph.quorums = options.graph.conditional = options.graph.failures = false;
  }
  sim::Program program(test::random_graph(random, options.graph));
  const test::Expectation expected = test::oracle(program.graph());
  options.job.representation = representation;
  CollectingEventSink records;
  if (circumstances.listened) options.job.records = &records;
  options.job.shard_of = shards_of(program.graph().fragment, options.job.shards, random);
  test::LocalJob job(
      program.graph().fragment,
      [&](const test::KernelCall& call) {
        return sim::run_kernel(program, call.task, call.id, call.code, call.returns, call.attempt_number,
                               call.views, call.self, call.predicates)
            .ended;
      },
      options.job);
  std::vector<TaskId> all;
  for (std::uint32_t task = 0; task < expected.tasks.size(); ++task) all.push_back({0, task});
  if (circumstances.listened) job.keep(all);
  job.run();
  for (const TaskId task : all) {
    // A released output has to be made again, which counts as a run.
    if (!circumstances.listened) break;
    if (job.outcome(task) != Outcome::finished || job.value(task) || !expected.tasks[task.index].value)
      continue;
    job.fetch(task);
    job.run_until([&] { return job.brought.contains(task); });
  }
  for (const TaskId task : all) {
    const test::Expected& right = expected.tasks[task.index];
    INFO("seed " << seed << ", task " << task.index);
    REQUIRE(job.outcome(task) == right.outcome);
    if (right.outcome == Outcome::finished && (circumstances.listened || job.value(task))) {
      REQUIRE(job.value(task) == right.value);
    }
  }
  // Nothing was lost, so nothing ran more often than its failures make it.
  std::map<TaskId, std::uint32_t> attempts;
  for (const test::LocalJob::Ran& ran : job.ran) {
    if (ran.task.origin == 0 && !ran.again) ++attempts[ran.task];
  }
  for (const TaskId task : all) {
    const detail::Fragment& fragment = program.graph().fragment;
    if (fragment.kind(task.index).call != detail::CallKind::ordinary) continue;
    INFO("seed " << seed << ", task " << task.index);
    // Unless it was to start again with another member of its group.
    if (const auto group = fragment.policy(task.index).group;
        group && fragment.groups[*group].strategy != Strategy::one_for_one) {
      REQUIRE(attempts[task] >= expected.tasks[task.index].attempts);
      continue;
    }
    REQUIRE(attempts[task] == expected.tasks[task.index].attempts);
  }
  const auto elsewhere = std::count_if(job.ran.begin(), job.ran.end(), [&](const test::LocalJob::Ran& ran) {
    return ran.task.origin == 0 &&
           ran.at.process.value != job.home_process(options.job.shard_of[ran.task.index]);
  });
  return {test::histories(records.records()), static_cast<std::uint64_t>(elsewhere), job.told_by_lanes};
}

}  // namespace

TEST_CASE("random graphs end as the oracle says, as rows and all supervised, with equal records") {
  std::uint64_t lines = 0;
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
    try {
      const Histories rows = check(seed, Representation::as_needed).histories;
      const Histories supervised = check(seed, Representation::supervised).histories;
      INFO("seed " << seed);
      REQUIRE(rows.size() == supervised.size());
      for (const auto& [task, history] : rows) {
        INFO("task " << task);
        REQUIRE(supervised.contains(task));
        REQUIRE(history == supervised.at(task));
        REQUIRE(history.size() >= 2);  // The row ended, and was settled.
        lines += history.size();
      }
    } catch (const std::runtime_error& error) {
      FAIL("seed " << seed << ": " << error.what());
    }
  }
  CHECK(lines > graphs * 20);
}

TEST_CASE("random graphs end as the oracle says where lanes tell those of other shards, with equal records") {
  std::uint64_t told = 0;
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
    try {
      const bool plain = seed % 4 != 0;
      const Histories by_homes = check(seed, Representation::as_needed, {.plain = plain}).histories;
      const Checked by_lanes = check(seed, Representation::as_needed, {.rings = true, .plain = plain});
      INFO("seed " << seed);
      REQUIRE(by_lanes.histories == by_homes);
      told += by_lanes.told_by_lanes;
      told += check(seed, Representation::as_needed, {.listened = false, .rings = true, .plain = plain})
                  .told_by_lanes;
    } catch (const std::runtime_error& error) {
      FAIL("seed " << seed << ": " << error.what());
    }
  }
  CHECK(told > graphs);
}

TEST_CASE("random graphs end as the oracle says where nobody listens and nothing is asked for") {
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
    try {
      check(seed, Representation::as_needed, {.listened = false});
    } catch (const std::runtime_error& error) {
      FAIL("seed " << seed << ": " << error.what());
    }
  }
}

TEST_CASE("random graphs end as the oracle says, placed by earliest finish under loads that change") {
  std::uint64_t elsewhere = 0;
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
    const auto representation = seed % 3 == 0 ? Representation::supervised : Representation::as_needed;
    try {
      elsewhere += check(seed, representation, {.changing_loads = true}).elsewhere;
    } catch (const std::runtime_error& error) {
      FAIL("seed " << seed << ": " << error.what());
    }
  }
  CHECK(elsewhere > graphs / 2);
}
