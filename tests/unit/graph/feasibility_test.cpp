#include "libdag/graph/feasibility.hpp"

#include <catch2/catch.hpp>
#include <queue>

#include "libdag/base/random.hpp"
#include "libdag/graph/order.hpp"
#include "tests/support/small_graph.hpp"

using namespace dag;
using namespace dag::test;
using namespace std::chrono_literals;
using detail::Builder;
using detail::Fragment;

TEST_CASE("bounds of a fork and join", "[feasibility]") {
  Builder builder;
  const auto source = add(builder, "source", 1s);
  const auto sink = add(builder, "sink", 1s);
  for (int i = 0; i < 4; ++i) {
    const auto middle = add(builder, "middle", 2s);
    strong(builder, source, middle);
    strong(builder, middle, sink);
  }
  const Bounds b = bounds(builder.sealed());
  CHECK(b.critical_path == 4s);
  CHECK(b.work == 10s);
  CHECK(b.all_stated);
  CHECK(b.one_lane);
  CHECK(feasibility(b, 1, 9s) == Feasibility::impossible);
  CHECK(feasibility(b, 1, 10s) == Feasibility::certain);
  CHECK(feasibility(b, 2, 4s) == Feasibility::impossible);  // 10 s of work on 2 lanes
  CHECK(feasibility(b, 2, 6s) == Feasibility::unknown);     // true, but only a schedule shows it
  CHECK(feasibility(b, 2, 7s) == Feasibility::certain);
  CHECK(feasibility(b, 100, 3999ms) == Feasibility::impossible);
}

TEST_CASE("what is not known cannot be certain", "[feasibility]") {
  Builder builder;
  const auto task = add(builder, "t", 1s);
  CHECK(feasibility(bounds(builder.sealed()), 4, 1h) == Feasibility::certain);
  SECTION("a silent task") { add(builder, "silent"); }
  SECTION("a wide task") {
    builder.change_policy(task, [](Policy& p) { p.needs.cpus = 1.5; });
    CHECK(bounds(builder.sealed()).work == 2s);
  }
  CHECK(feasibility(bounds(builder.sealed()), 4, 1h) == Feasibility::unknown);
}

namespace {

/// List scheduling by index: no lane idles beside a ready task.
Duration greedy_makespan(const Fragment& fragment, std::uint32_t lanes) {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) missing.push_back(fragment.edge_count(task));
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  using Running = std::pair<Duration, std::uint32_t>;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
  for (std::uint32_t task = 0; task < missing.size(); ++task) {
    if (missing[task] == 0) ready.push(task);
  }
  const OutEdges out_edges(fragment);
  Duration now{0};
  while (!ready.empty() || !running.empty()) {
    while (!ready.empty() && running.size() < lanes) {
      const std::uint32_t task = ready.top();
      ready.pop();
      running.emplace(now + fragment.policy(task).takes.value(), task);
    }
    now = running.top().first;
    for (const OutEdge out : out_edges.of(running.top().second)) {
      if (--missing[out.successor] == 0) ready.push(out.successor);
    }
    running.pop();
  }
  return now;
}

}  // namespace

TEST_CASE("no accepted deadline is missed, no kept one refused", "[feasibility]") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Builder builder;
    const auto tasks = 1 + static_cast<std::uint32_t>(random.below(30));
    for (std::uint32_t i = 0; i < tasks; ++i) {
      add(builder, "t", Duration(random.below(100)));
      for (std::uint64_t k = i == 0 ? 0 : random.below(3); k > 0; --k) {
        strong(builder, static_cast<std::uint32_t>(random.below(i)), i);
      }
    }
    const Fragment fragment = builder.sealed();
    const auto lanes = 1 + static_cast<std::uint32_t>(random.below(6));
    const Duration makespan = greedy_makespan(fragment, lanes);
    const Bounds b = bounds(fragment);
    REQUIRE(feasibility(b, lanes, makespan) != Feasibility::impossible);
    if (makespan > 0ns) REQUIRE(feasibility(b, lanes, makespan - 1ns) != Feasibility::certain);
  }
}
