// For what tasks waited: worked out by hand, and over random runs, where every nanosecond has one cause.
#include "libdag/story/waiting.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "libdag/base/random.hpp"
#include "libdag/story/job_times.hpp"
#include "tests/support/graph_records.hpp"

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

constexpr JobId job{7};
constexpr std::int64_t second = 1'000'000'000;

JournalEntry entry(Duration at, std::uint32_t task, EventWhat what, std::uint32_t lane = 0,
                   ProcessId process = {1}) {
  return {1000 * second + at.count(),
          {},
          {Instant{at}, {process, lane}, job, {0, task}, {{1, 1}, 1}, std::move(what)}};
}
Waiting waiting_in(const JobTimes& times) {
  JobTimes::Placed placed = times.placed();
  return waiting(placed.graph, placed.times, placed.lanes);
}

}  // namespace

TEST_CASE("each wait has its cause") {
  JobTimes times;
  // 0, 1 and 4 need nothing, 2 needs 0 and 1, 3 needs 2.
  for (JournalEvent& record : test::graph_records(job, {{}, {}, {0, 1}, {2}, {}}))
    times.add({1000 * second, {}, std::move(record)});
  times.add(entry(0s, 0, event::JobBegan{"j", 5}));
  times.add(entry(4s, 0, event::Ran{Outcome::finished, 3s, {}}));     // From 1 to 4, lane 0.
  times.add(entry(4s, 4, event::Ran{Outcome::finished, 2s, {}}, 1));  // From 2 to 4, lane 1.
  times.add(entry(6s, 1, event::Ran{Outcome::finished, 2s, {}}));     // From 4 to 6, lane 0.
  times.add(entry(7s, 2, event::InputsCame{100, 1s}, 1));
  times.add(entry(9s, 2, event::Ran{Outcome::failed, 1s, "it threw"}, 1));  // From 8 to 9, lane 1.
  times.add(entry(12s, 2, event::Ran{Outcome::finished, 1s, {}}, 1));       // From 11 to 12.
  times.add(entry(14s, 3, event::Lost{"its process is gone"}));
  times.add(entry(16s, 3, event::Ran{Outcome::finished, 1s, {}}));  // From 15 to 16, lane 0.
  const Waiting sum = waiting_in(times);
  CHECK(sum.dependencies == 6s + 12s);  // 2 for 1, 3 for 2.
  CHECK(sum.resources == 2s);           // 1, from 2 to 4.
  CHECK(sum.queue == 0s);               // All lanes are of one node.
  CHECK(sum.transfer == 1s);            // 2, from 6 to 7.
  CHECK(sum.retry == 2s + 2s);          // 2 from 9 to 11, 3 from 12 to 14.
  // 0 until 1, 1 until 2, 4 until 2, 2 from 7 to 8, 3 from 14 to 15.
  CHECK(sum.other == 1s + 2s + 2s + 1s + 1s);
  CHECK(sum.idle == 2 * 15s - 10s);
  CHECK(sum.idle_scattered == 0s);  // All lanes are of one node.
  // 1 and 4 while lane 1 was free, from 1 to 2; 2 from 6 to 8; 3 from 12 to 15.
  CHECK(sum.idle_while_ready == 1s + 2s + 3s);
}

TEST_CASE("who waits where all lanes run others, while another node has one to spare, waits in a queue") {
  JobTimes times;
  for (JournalEvent& record : test::graph_records(job, {{}, {}, {}}))
    times.add({1000 * second, {}, std::move(record)});
  times.add(entry(0s, 0, event::JobBegan{"j", 3}));
  times.add(entry(5s, 0, event::Ran{Outcome::finished, 5s, {}}));          // From 0 to 5.
  times.add(entry(4s, 1, event::Ran{Outcome::finished, 2s, {}}, 0, {2}));  // From 2 to 4, at the other.
  times.add(entry(9s, 2, event::Ran{Outcome::finished, 3s, {}}));          // From 6 to 9.
  const Waiting sum = waiting_in(times);
  CHECK(sum.resources == 2s);   // 2, from 2 to 4.
  CHECK(sum.queue == 3s);       // 2, from 0 to 2 and from 4 to 5.
  CHECK(sum.other == 2s + 1s);  // 1 from 0 to 2, 2 from 5 to 6.
}

TEST_CASE("lanes that are idle at other nodes than most of them are counted apart") {
  const ProcessId one{1}, other{2};
  const auto idle = [](std::vector<LaneSpans> lanes) {
    const Waiting sum = waiting(PlacedGraph({}, {}), {}, lanes);
    return std::pair(sum.idle, sum.idle_scattered);
  };
  // Until 10 two are idle at one node and one at the other, then one at each, until 30 none.
  CHECK(idle({{one, {{1, 31}}}, {one, {{11, 31}}}, {one, {{21, 31}}}, {other, {{21, 31}}}}) ==
        std::pair(Duration{30 + 20}, Duration{10 + 10}));
  CHECK(idle({{one, {{1, 11}}}, {one, {}}}) == std::pair(Duration{10}, Duration{0}));
  CHECK(idle({}) == std::pair(Duration{0}, Duration{0}));
}

TEST_CASE("every nanosecond between a task's being known and its beginning has one cause") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const auto tasks = static_cast<std::uint32_t>(1 + random.below(30));
    const auto lanes = static_cast<std::uint32_t>(1 + random.below(4));
    std::vector<std::vector<std::uint32_t>> before(tasks);
    for (std::uint32_t task = 1; task < tasks; ++task) {
      for (std::uint32_t other = 0; other < task; ++other) {
        if (random.below(6) == 0) before[task].push_back(other);
      }
    }
    JobTimes times;
    for (JournalEvent& record : test::graph_records(job, before))
      times.add({1000 * second, {}, std::move(record)});
    times.add(entry(0s, 0, event::JobBegan{"j", tasks}));
    std::vector<Duration> free(lanes), ended(tasks);
    Duration waited{0}, busy{0}, first{std::chrono::hours(1)}, last{0};
    for (std::uint32_t task = 0; task < tasks; ++task) {
      Duration at = Duration(random.below(100));
      for (const std::uint32_t other : before[task])
        at = std::max(at, ended[other] + Duration(random.below(50)));
      const auto lane = static_cast<std::uint32_t>(random.below(lanes));
      at = std::max(at, free[lane]);
      if (random.below(4) == 0) times.add(entry(at, task, event::InputsCame{1, Duration(random.below(100))}));
      waited += at;
      const Duration ran(1 + random.below(100));
      ended[task] = free[lane] = at + ran;
      busy += ran;
      first = std::min(first, at);
      last = std::max(last, ended[task]);
      times.add(entry(ended[task], task, event::Ran{Outcome::finished, ran, {}}, lane, {1 + lane % 2}));
    }
    const Waiting sum = waiting_in(times);
    CHECK(sum.dependencies + sum.transfer + sum.resources + sum.queue + sum.retry + sum.other == waited);
    CHECK(sum.retry == 0s);
    for (const Duration part : {sum.dependencies, sum.transfer, sum.resources, sum.queue, sum.other})
      CHECK(part >= 0s);
    CHECK(sum.idle + busy == (last - first) * static_cast<Duration::rep>(times.lanes().size()));
    CHECK(sum.idle_while_ready <= sum.idle);
    CHECK(sum.idle_scattered <= sum.idle);
  }
}

TEST_CASE("a schedule keeps to what lanes and chains allow") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const auto tasks = static_cast<std::uint32_t>(1 + random.below(60));
    std::vector<JobGraph::Edge> edges;
    std::vector<TaskId> ids;
    std::vector<Duration> ran;
    for (std::uint32_t task = 0; task < tasks; ++task) {
      ids.push_back({0, task});
      ran.push_back(Duration(1 + random.below(1000)));
      for (std::uint32_t other = 0; other < task; ++other) {
        if (random.below(10) == 0) edges.push_back({{0, other}, {0, task}, 0});
      }
    }
    const PlacedGraph graph(edges, ids);
    const Duration work = std::accumulate(ran.begin(), ran.end(), Duration{0});
    const Duration chain = critical_path(graph, ran).length;
    CHECK(list_schedule(graph, ran, 1) == work);
    CHECK(list_schedule(graph, ran, tasks) == chain);
    for (const std::uint32_t lanes : {2u, 3u, 7u}) {
      const Duration took = list_schedule(graph, ran, lanes);
      CHECK(took >= chain);
      CHECK(took * lanes >= work);
      // Graham's bound.
      CHECK(took * lanes <= work + chain * (lanes - 1));
    }
  }
}
