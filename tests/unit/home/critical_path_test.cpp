// The rest of the critical path: the longest path through the graph from a task that has not ended.
#include "libdag/home/critical_path.hpp"

#include <catch2/catch.hpp>

#include "libdag/home/finish_placer.hpp"
#include "libdag/job/explained.hpp"
#include "tests/unit/home/scripted.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;

namespace {

constexpr Instant at(Duration time) { return Instant{time}; }

/// Over the homes of all shards.
std::optional<PathLeft> path_of(LocalJob& job, std::uint32_t shards) {
  std::optional<PathLeft> longest;
  for (std::uint32_t shard = 0; shard < shards; ++shard) job.home(shard).critical_path(job.now, longest);
  return longest;
}

/// The same, by walking all ways.
struct Walk {
  const std::vector<std::vector<std::uint32_t>>& successors;
  const std::vector<Duration>& durations;
  std::map<std::uint32_t, std::pair<Duration, std::uint64_t>> known = {};
  std::pair<Duration, std::uint64_t> from(std::uint32_t task) {
    if (const auto found = known.find(task); found != known.end()) return found->second;
    std::pair<Duration, std::uint64_t> longest{0ns, 0};
    for (const std::uint32_t next : successors[task]) longest = std::max(longest, from(next));
    return known[task] = {longest.first + durations[task], longest.second + 1};
  }
};

}  // namespace

TEST_CASE("what is left of the critical path is the longest way from a task that has not ended") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(take(50, random(1, 1'000'000))));
  INFO("seed " << seed);
  constexpr std::uint32_t tasks = 40;
  Random random(seed);
  Names graph;
  std::vector<TaskId> ids;
  std::vector<std::vector<std::uint32_t>> successors(tasks);
  std::vector<Duration> durations;
  LocalJobOptions options;
  options.shards = options.processes = 1 + static_cast<std::uint32_t>(random.below(3));
  for (std::uint32_t i = 0; i < tasks; ++i) {
    std::vector<TaskId> before;
    for (std::uint32_t j = 0; j < i; ++j) {
      if (random.below(10) > 0) continue;
      before.push_back(ids[j]);
      successors[j].push_back(i);
    }
    // Several of one name take as long; names differ a lot.
    const std::uint64_t name = random.below(8);
    ids.push_back(graph.task("n" + std::to_string(name), before));
    durations.push_back(1ms * (1ll << name));
    options.usual["n" + std::to_string(name)] = durations.back();
    options.shard_of.push_back(static_cast<ShardIndex>(random.below(options.shards)));
  }
  Walk walk{successors, durations};
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  for (const auto& [name, usual] : options.usual) job.paused.insert(name);
  job.settle_down();
  job.paused.clear();
  int looks = 0;
  do {
    std::pair<Duration, std::uint64_t> expected{0ns, 0};
    for (std::uint32_t shard = 0; shard < options.shards; ++shard) {
      ProcessExplained now;
      job.home(shard).explain({}, job.now, now);
      for (const TaskExplained& one : now.tasks) {
        if (one.state != RowState::ended) expected = std::max(expected, walk.from(one.task.index));
      }
    }
    const auto path = path_of(job, options.shards);
    REQUIRE(path.has_value() == (expected.second > 0));
    if (!path) continue;
    ++looks;
    CHECK(path->left == expected.first);
    CHECK(path->tasks == expected.second);
    CHECK(walk.from(path->first.index) == expected);
  } while (!job.job_ended && (job.step() || job.wait()));
  CHECK(job.job_ended);
  CHECK(looks > 10);
}

TEST_CASE("of names of which nothing is known tasks count as the mean of the others; of none, only tasks") {
  Names graph;
  const TaskId a = graph.task("a"), b = graph.task("b", {a});
  graph.task("c", {b});
  LocalJobOptions options;
  LocalJob nothing_known(graph.builder.sealed(), Script().kernel(), options);
  nothing_known.paused = {"a"};
  nothing_known.settle_down();
  CHECK(path_of(nothing_known, 1) == PathLeft{0ns, 3, a});

  Names same;
  const TaskId x = same.task("a"), y = same.task("b", {x});
  same.task("c", {y});
  options.usual = {{"a", 2s}, {"b", 4s}};
  LocalJob job(same.builder.sealed(), Script().kernel(), options);
  job.paused = {"a"};
  job.settle_down();
  CHECK(path_of(job, 1) == PathLeft{9s, 3, x});
  job.paused.clear();
  job.run();
  CHECK(!path_of(job, 1));
}

TEST_CASE("a task may have been added before what it waits for") {
  Names graph;
  const TaskId last = graph.task("a"), middle = graph.task("b"), first = graph.task("c");
  graph.task("d");
  graph.edge(first, middle, detail::EdgeKind::strong);
  graph.edge(middle, last, detail::EdgeKind::strong);
  LocalJobOptions options;
  options.usual = {{"a", 1s}, {"b", 2s}, {"c", 4s}, {"d", 6s}};
  LocalJob job(graph.builder.sealed(), Script().kernel(), options);
  job.paused = {"c", "d"};
  job.settle_down();
  CHECK(path_of(job, 1) == PathLeft{7s, 3, first});
}

TEST_CASE("the critical path learns new run times only when the ways are old") {
  Names names;
  const TaskId first = names.task("a");
  names.task("b", {first});
  const detail::Fragment graph = names.builder.sealed();
  FinishPlacer placement(1);
  CriticalPath path(graph);
  path.check_invariants();
  REQUIRE(path.measure(placement, at(1s)));
  CHECK(path.from(0) == CriticalPath::Way{0ns, 2});
  placement.ran("a", 2s);
  placement.ran("b", 4s);
  REQUIRE(path.measure(placement, at(1s)));  // Two tasks make ways old after 200 us.
  CHECK(path.from(0) == CriticalPath::Way{0ns, 2});
  REQUIRE(path.measure(placement, at(2s)));
  CHECK(path.from(0) == CriticalPath::Way{6s, 2});
  CHECK(path.from(1) == CriticalPath::Way{4s, 1});
  path.check_invariants();
}
