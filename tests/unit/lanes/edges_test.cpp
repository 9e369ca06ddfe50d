// Ends told by lanes of one process to lanes of another, over real rings with real threads: the result is
// that of one loop, whatever is full, asleep, busy or given up. Run under TSan too.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>

#include "actors/lanes/edge_record.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/base/random.hpp"
#include "libdag/outputs/arena.hpp"
#include "tests/support/patience.hpp"
#include "tests/unit/lanes/two_processes.hpp"

using namespace dag;

namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return (a ^ (b + 0x9E3779B97F4A7C15ULL)) * 0xBF58476D1CE4E5B9ULL;
}
std::uint64_t combine(std::uint64_t own, const std::vector<std::uint64_t>& inputs) {
  for (const std::uint64_t input : inputs) own = mix(own, input);
  return own;
}

struct RandomJob {
  explicit RandomJob(std::uint64_t seed, std::uint32_t tasks) : graph("random") {
    Random random(seed);
    std::vector<Output<std::uint64_t>> outputs;
    for (std::uint64_t i = 0; i < tasks; ++i) {
      std::vector<Output<std::uint64_t>> inputs;
      std::vector<std::uint64_t> values;
      for (std::uint64_t n = random.below(4); i > 0 && n > 0; --n) {
        const std::uint64_t from = i - 1 - random.below(std::min<std::uint64_t>(i, 40));
        inputs.push_back(outputs[from]);
        values.push_back(expected[from]);
      }
      outputs.push_back(graph.task("combine", combine, i, inputs));
      expected.push_back(combine(i, values));
      shard_of.push_back(static_cast<ShardIndex>(random.below(2)));
    }
  }
  void check(test::TwoProcesses& processes) const {
    for (std::uint32_t task = 0; task < expected.size(); ++task) {
      const Blob output = processes.output(task, shard_of[task]);
      REQUIRE(output);
      REQUIRE(detail::from_blob<std::uint64_t>(output) == expected[task]);
    }
  }
  Graph graph;
  std::vector<std::uint64_t> expected;
  std::vector<ShardIndex> shard_of;
};

std::atomic<bool> let_go;

struct Arena {
  Arena() { arena::begin(3); }
  ~Arena() { arena::end(); }
};

/// Outputs that are made in one process and read in the other.
struct HandedOn {
  static constexpr std::uint32_t many = 20;

  explicit HandedOn(std::size_t size_bytes) : graph("handed on") {
    for (std::uint32_t i = 0; i < many; ++i) {
      auto made = graph.task(
          "make",
          [](std::size_t size, std::uint32_t with) {
            return Blob::make(size, [&](std::byte* to) { std::fill_n(to, size, std::byte(with)); });
          },
          size_bytes, i);
      graph.task(
          "read",
          [](const Blob& bytes, std::size_t size, std::uint32_t with) {
            const auto right = [&](std::byte one) { return one == std::byte(with); };
            return bytes.size_bytes() == size &&
                   std::all_of(bytes.bytes().begin(), bytes.bytes().end(), right);
          },
          made, size_bytes, i);
      shard_of.push_back(0);
      shard_of.push_back(1);
    }
  }
  Graph graph;
  std::vector<ShardIndex> shard_of;
};

}  // namespace

TEST_CASE("a random graph over two processes gives what a loop gives, both telling each other") {
  const auto lanes = GENERATE(1u, 2u);
  const bool links = GENERATE(false, true);
  const auto spin = GENERATE(as<Duration>(), Duration{0}, std::chrono::milliseconds(20));
  std::uint64_t by_lanes = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const RandomJob job(seed, 500);
    test::TwoProcesses processes(job.graph, job.shard_of,
                                 {.lanes = lanes, .spin = spin, .rings = !links, .links = links});
    processes.wait();
    job.check(processes);
    if (links) CHECK(processes.by_link() > 0);
    by_lanes += processes.by_lanes();
  }
  if (spin > Duration{0}) CHECK(by_lanes > 100);
}

TEST_CASE("when a ring is given up, lanes go on by link, and what it swallowed is told again") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RandomJob job(seed, 1000);
    test::TwoProcesses processes(job.graph, job.shard_of,
                                 {.spin = std::chrono::milliseconds(20), .links = true});
    REQUIRE(processes.wait_for(0, 40 * seed));
    processes.give_up_ring(seed % 2);
    processes.give_up_ring(1 - seed % 2);
    processes.wait();
    job.check(processes);
  }
}

TEST_CASE("a ring that is full holds nobody up") {
  // Room for four records.
  const RandomJob job(3, 2000);
  test::TwoProcesses processes(job.graph, job.shard_of,
                               {.spin = std::chrono::milliseconds(20), .ring_bytes = 256});
  processes.wait();
  job.check(processes);
  CHECK(processes.by_lanes() + processes.by_messages() > 0);
}

TEST_CASE("a peer whose lanes are busy is told all the same") {
  let_go = false;
  Graph graph("busy");
  std::vector<ShardIndex> shard_of;
  graph.task("blocks", [] {
    let_go.wait(false);
    return 1;
  });
  shard_of.push_back(1);
  constexpr std::uint32_t many = 5000;
  for (std::uint32_t i = 0; i < many; ++i) {
    auto first = graph.task(
        "first", [](std::uint32_t n) { return n; }, i);
    graph.task(
        "second", [](std::uint32_t n) { return n + 1; }, first);
    shard_of.push_back(0);
    shard_of.push_back(1);
  }
  test::TwoProcesses processes(graph, shard_of, {.ring_bytes = 4096});
  REQUIRE(processes.wait_for(0, many));
  let_go = true;
  let_go.notify_all();
  processes.wait();
  for (std::uint32_t i = 0; i < many; ++i) {
    REQUIRE(detail::from_blob<std::uint32_t>(processes.output(2 + 2 * i, 1)) == i + 1);
  }
}

TEST_CASE("lanes that are stopped tell of what ends meanwhile, and nothing afterwards") {
  static std::atomic<bool> begun;
  begun = let_go = false;
  Graph graph("stopped");
  auto slow = graph.task("slow", [] {
    begun = true;
    begun.notify_all();
    let_go.wait(false);
    return 1;
  });
  graph.task(
      "next", [](int value) { return value + 1; }, slow);
  test::TwoProcesses processes(graph, {0, 1}, {.rings = false, .links = true});
  begun.wait(false);
  std::jthread releases([] {
    let_go = true;
    let_go.notify_all();
  });
  processes.stop_lanes(0);
  CHECK(processes.by_link() <= 1);
  processes.stop_lanes(0);  // Nothing is left to stop.
  if (processes.by_link() == 1) CHECK(processes.wait_for(1, 1));
}

TEST_CASE("what was told over a ring that is given up is told again") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RandomJob job(seed, 1000);
    test::TwoProcesses processes(job.graph, job.shard_of, {.spin = std::chrono::milliseconds(20)});
    REQUIRE(processes.wait_for(0, 40 * seed));  // Each shard has some 500 rows.
    processes.give_up_ring(seed % 2);
    processes.give_up_ring(1 - seed % 2);
    processes.wait();
    job.check(processes);
  }
}

TEST_CASE("an output reaches a lane of another process with the news: copied, or read where it lies") {
  const Arena begun;
  const std::size_t size_bytes =
      GENERATE(as<std::size_t>(), 9, limits::ring_value_bytes_max, Blob::large_bytes_min, 5'000'000);
  CAPTURE(size_bytes);
  const HandedOn job(size_bytes);
  {
    // With room for all copies: homes, which tell what finds the ring full, would name them only.
    test::TwoProcesses processes(job.graph, job.shard_of,
                                 {.spin = std::chrono::milliseconds(20), .ring_bytes = 4 << 20});
    processes.wait();
    // By a lane or, when all sleep, by the listener.
    CHECK(processes.by_lanes() + processes.by_messages() == HandedOn::many);
    for (std::uint32_t i = 0; i < HandedOn::many; ++i) {
      REQUIRE(detail::from_blob<bool>(processes.output(2 * i + 1, 1)));
    }
    const bool in_place = size_bytes >= Blob::large_bytes_min;
    CHECK(arena::use().segments == (in_place ? HandedOn::many : 0));
    for (std::uint32_t i = 0; i < HandedOn::many; ++i) processes.drop(2 * i, 0);
    CHECK(arena::use().waiting == 0);  // The reader has them.
    for (std::uint32_t i = 0; i < HandedOn::many; ++i) processes.drop(2 * i, 1);
    CHECK(processes.handed_back() == (in_place ? HandedOn::many : 0));
    CHECK(arena::use().waiting == arena::use().segments);
  }
}

TEST_CASE("who cannot read an output where it lies is told who has it") {
  const Arena begun;
  const HandedOn job(Blob::large_bytes_min);
  test::TwoProcesses processes(job.graph, job.shard_of, {.reads_in_place = false});
  REQUIRE(processes.wait_for(0, HandedOn::many));
  const auto until = std::chrono::steady_clock::now() + dag::test::patient(std::chrono::seconds(30));
  while (processes.by_messages() < HandedOn::many && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  CHECK(processes.by_messages() == HandedOn::many);
  CHECK_FALSE(processes.output(0, 1));
}

TEST_CASE("a record that no lane wrote breaks its ring and nothing else") {
  const RandomJob job(5, 300);
  test::TwoProcesses processes(job.graph, job.shard_of, {.spin = std::chrono::milliseconds(20)});
  processes.wait();
  job.check(processes);
  const auto broken_by = [&](EdgeRecord head, std::uint16_t kind) {
    processes.carrier(0).begin().write(kind, std::as_bytes(std::span(&head, 1)));
    const auto until = std::chrono::steady_clock::now() + dag::test::patient(std::chrono::seconds(30));
    while (!processes.carrier(1).broken() && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
    return processes.carrier(1).broken();
  };
  SECTION("of another kind") { CHECK(broken_by({}, 9)); }
  SECTION("with bits that mean nothing") {
    EdgeRecord head;
    head.zero = 1;
    CHECK(broken_by(head, EdgeRecord::kind));
  }
  SECTION("with an output that lies nowhere") {
    EdgeRecord head;
    head.has_value = 1;
    CHECK(broken_by(head, EdgeRecord::kind_handed_over));
  }
}

namespace {

using Clock = std::chrono::steady_clock;
std::vector<std::int64_t> began;

double percentile(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

TEST_CASE("how long an edge through a ring takes, lanes awake", "[.bench]") {
  const bool rings = GENERATE(true, false);
  constexpr std::uint32_t hops = 20'000;
  began.assign(hops, 0);
  Graph graph("ping-pong");
  std::vector<ShardIndex> shard_of;
  const auto kernel = [](std::uint32_t n) {
    began[n] = Clock::now().time_since_epoch().count();
    return n + 1;
  };
  auto ball = graph.task("ball", kernel, 0u);
  shard_of.push_back(0);
  for (std::uint32_t i = 1; i < hops; ++i) {
    ball = graph.task("ball", kernel, ball);
    shard_of.push_back(static_cast<ShardIndex>(i % 2));
  }
  test::TwoProcesses processes(graph, shard_of, {.spin = std::chrono::seconds(1), .rings = rings});
  processes.wait();
  std::vector<double> spans;
  for (std::uint32_t i = hops / 10; i + 1 < hops; ++i)
    spans.push_back(static_cast<double>(began[i + 1] - began[i]) / 1e3);
  std::printf("%s: kernel to kernel p50 %.2f, p90 %.2f, p99 %.2f us; %llu by lanes, %llu messages\n",
              rings ? "ring" : "messages", percentile(spans, 0.5), percentile(spans, 0.9),
              percentile(spans, 0.99), static_cast<unsigned long long>(processes.by_lanes()),
              static_cast<unsigned long long>(processes.by_messages()));
}

TEST_CASE("empty stencil rows per second over two processes", "[.bench]") {
  const bool rings = GENERATE(true, false);
  constexpr std::uint32_t width = 64, steps = 3000;
  Graph graph("stencil");
  std::vector<ShardIndex> shard_of;
  std::vector<Output<std::uint32_t>> row;
  for (std::uint32_t step = 0; step < steps; ++step) {
    std::vector<Output<std::uint32_t>> next;
    for (std::uint32_t column = 0; column < width; ++column) {
      shard_of.push_back(static_cast<ShardIndex>(column * 2 / width));
      if (step == 0) {
        next.push_back(graph.task("first", [] { return 1u; }));
        continue;
      }
      next.push_back(graph.task(
          "next", [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return a + b + c; },
          row[column > 0 ? column - 1 : 0], row[column], row[std::min(column + 1, width - 1)]));
    }
    row = next;
  }
  test::TwoProcesses processes(graph, shard_of, {.spin = std::chrono::milliseconds(5), .rings = rings});
  const auto start = Clock::now();
  processes.wait();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("%s: %.0f thousand rows/s, homes included; %llu by lanes, %llu messages\n",
              rings ? "ring" : "messages", width * steps / seconds / 1e3,
              static_cast<unsigned long long>(processes.by_lanes()),
              static_cast<unsigned long long>(processes.by_messages()));
}
