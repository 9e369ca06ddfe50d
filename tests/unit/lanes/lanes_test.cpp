// Lanes against real threads: every plain row runs once, after its predecessors, with their outputs; whatever
// the number of lanes. Run under TSan too.

#include <sys/resource.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <set>
#include <thread>

#include "actors/lanes/lanes.hpp"
#include "dag/context.hpp"
#include "libdag/base/random.hpp"
#include "libdag/journal/event_bytes.hpp"
#include "libdag/journal/event_ring.hpp"
#include "tests/support/patience.hpp"

namespace {

using dag::detail::none;

/// The home of a graph without anything special: it opens the rows and counts ends.
struct CountingHome {
  explicit CountingHome(const dag::Graph& graph, dag::Lanes& on_lanes) : lanes(on_lanes) {
    shard->report = [this](dag::LaneReport&& report) {
      const std::lock_guard lock(mutex);
      quick += report.quick.size();
      for (auto& slow : report.slow) slow_ends.push_back(std::move(slow));
      decide += report.decide.size();
      missing += report.missing_inputs.size();
      changed.notify_all();
    };
    const auto& fragment = graph.builder().seal();
    shard->table.add(fragment, dag::make_program(*fragment), {});
  }
  ~CountingHome() { lanes.retire(shard); }

  void open_all() {
    for (const dag::RowIndex row : shard->table.part(0).program->roots) {
      if (shard->table.apply(row, dag::PredecessorEnded{}).what == dag::Do::make_ready)
        lanes.make_ready(*shard, row);
    }
  }
  void wait_for(std::size_t ends) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return quick + slow_ends.size() >= ends; });
  }

  dag::Lanes& lanes;
  std::shared_ptr<dag::LaneShard> shard =
      std::make_shared<dag::LaneShard>(dag::Representation::as_needed, lanes.count());
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t quick = 0, decide = 0, missing = 0;
  std::vector<dag::SlowEnd> slow_ends;
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return (a ^ (b + 0x9E3779B97F4A7C15ULL)) * 0xBF58476D1CE4E5B9ULL;
}

std::uint64_t combine(std::uint64_t own, const std::vector<std::uint64_t>& inputs) {
  for (const std::uint64_t input : inputs) own = mix(own, input);
  return own;
}

}  // namespace

TEST_CASE("a random graph gives on any number of lanes what a loop gives") {
  const auto lane_count = GENERATE(1u, 2u, 3u, 8u);
  dag::Lanes lanes({.cores = std::vector<int>(lane_count, -1), .spin = dag::Duration{0}}, {});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    dag::Random random(seed);
    dag::Graph graph("random");
    std::vector<dag::Output<std::uint64_t>> outputs;
    std::vector<std::uint64_t> expected;
    for (std::uint64_t i = 0; i < 400; ++i) {
      std::vector<dag::Output<std::uint64_t>> inputs;
      std::vector<std::uint64_t> values;
      for (std::uint64_t n = random.below(4); i > 0 && n > 0; --n) {
        const std::uint64_t from = random.below(i);
        inputs.push_back(outputs[from]);
        values.push_back(expected[from]);
      }
      outputs.push_back(graph.task("combine", combine, i, inputs));
      expected.push_back(combine(i, values));
    }
    CountingHome home(graph, lanes);
    home.open_all();
    home.wait_for(outputs.size());
    REQUIRE(home.quick == outputs.size());
    REQUIRE(home.decide + home.missing + home.slow_ends.size() == 0);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const dag::RowIndex row = static_cast<dag::RowIndex>(i);
      REQUIRE(home.shard->table.word(row).outcome == dag::Outcome::finished);
      REQUIRE(dag::detail::from_blob<std::uint64_t>(home.shard->table[row].output.load()) == expected[i]);
    }
  }
}

TEST_CASE("what a kernel throws becomes the error of its attempt, and the row waits for its home") {
  dag::Lanes lanes({.cores = {-1}, .spin = dag::Duration{0}}, {});
  dag::Graph graph("throwing");
  auto bad = graph.task("bad", []() -> int { throw std::runtime_error("no such shard"); });
  graph.task("odd", []() -> int { throw 7; });
  graph.task(
      "after", [](int x) { return x; }, bad);
  CountingHome home(graph, lanes);
  home.open_all();
  home.wait_for(2);
  std::sort(home.slow_ends.begin(), home.slow_ends.end(), [](auto& a, auto& b) { return a.row < b.row; });
  REQUIRE(home.slow_ends[0].ended.error->what == "no such shard");
  REQUIRE(home.slow_ends[1].ended.error->what.find("not a std::exception") != std::string::npos);
  REQUIRE(home.shard->table.word(0).state == dag::RowState::running);
  REQUIRE(home.shard->table.word(2).state == dag::RowState::waiting);
}

TEST_CASE("lanes that have a ring say there what each attempt came to, and others say nothing") {
  struct alignas(64) Ring {
    std::array<std::byte, 1 << 16> bytes{};
  };
  std::vector<Ring> memory(2);
  dag::LanesOptions options{.cores = {-1, -1, -1}, .spin = dag::Duration{0}};
  options.records.process = {5};
  for (Ring& ring : memory) {
    dag::make_event_ring(ring.bytes);
    options.records.rings.emplace_back(ring.bytes);
  }
  dag::Lanes lanes(std::move(options), {});
  dag::Graph graph("told");
  for (int i = 0; i < 300; ++i)
    graph.task(
        "fine", [](int value) { return value; }, i);
  graph.task("bad", []() -> int { throw std::runtime_error("no such shard"); });
  CountingHome home(graph, lanes);
  home.shard->job = {7};
  home.open_all();
  home.wait_for(301);
  std::set<std::uint32_t> tasks;
  std::size_t failed = 0;
  for (std::uint32_t lane = 0; lane < memory.size(); ++lane) {
    dag::EventRingReader reader(memory[lane].bytes);
    CHECK(reader.take([&](std::span<const std::byte> bytes) {
      const auto record = dag::read_record(bytes).value();
      CHECK(record.place == dag::EventPlace{{5}, lane});
      CHECK(record.job == dag::JobId{7});
      CHECK(tasks.insert(record.task.index).second);
      const auto& ran = std::get<dag::event::Ran>(record.what);
      if (ran.outcome == dag::Outcome::finished) return;
      ++failed;
      CHECK(record.task.index == 300);
      CHECK(ran.error == "no such shard");
    }) == 0);
  }
  CHECK(tasks.size() <= 301);
  CHECK(failed == tasks.count(300));
  if (tasks.size() < 301) CHECK(lanes.count() > memory.size());  // The third lane ran the others.
}

namespace {

std::atomic<bool> straggler_may_end;
constexpr std::uint64_t is_straggler = 7777;

/// Short, but for one.
std::uint64_t mostly_short(std::uint64_t number, std::uint64_t) {
  if (number == is_straggler) straggler_may_end.wait(false);
  return number;
}

const auto long_enough = dag::test::patient(std::chrono::seconds(20));

int niceness_here() { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); }

}  // namespace

TEST_CASE("what ended before a straggler on its lane is reported while that runs") {
  straggler_may_end = false;
  dag::Lanes lanes({.cores = {-1}, .spin = dag::Duration{0}}, {});
  dag::Graph graph("behind");
  constexpr std::uint64_t before = 100;
  dag::Output<std::uint64_t> last = graph.task("first", [] { return std::uint64_t{0}; });
  for (std::uint64_t i = 1; i < before; ++i) last = graph.task("short", mostly_short, i, last);
  graph.task("short", mostly_short, is_straggler, last);
  CountingHome home(graph, lanes);
  home.open_all();
  {
    std::unique_lock lock(home.mutex);
    CHECK(home.changed.wait_for(lock, long_enough, [&] { return home.quick == before; }));
  }
  straggler_may_end = true;
  straggler_may_end.notify_all();
  home.wait_for(before + 1);
}

TEST_CASE("what became ready just before a straggler on its lane is run by another one that slept") {
  straggler_may_end = false;
  dag::Lanes lanes({.cores = {-1, -1}, .spin = dag::Duration{0}}, {});
  dag::Graph graph("behind");
  constexpr std::uint64_t before = 100, beside = 2;
  dag::Output<std::uint64_t> last = graph.task("first", [] { return std::uint64_t{0}; });
  for (std::uint64_t i = 1; i < before; ++i) last = graph.task("short", mostly_short, i, last);
  // The first one that is ready runs where it became so, and the others wait behind it.
  graph.task("short", mostly_short, is_straggler, last);
  for (std::uint64_t i = 0; i < beside; ++i) graph.task("short", mostly_short, i, last);
  CountingHome home(graph, lanes);
  home.open_all();
  {
    std::unique_lock lock(home.mutex);
    CHECK(home.changed.wait_for(lock, long_enough, [&] { return home.quick == before + beside; }));
  }
  straggler_may_end = true;
  straggler_may_end.notify_all();
  home.wait_for(before + beside + 1);
}

TEST_CASE("while the gate is closed a lane leaves the end of a row to the home") {
  dag::Lanes lanes({.cores = {-1}, .spin = dag::Duration{0}}, {});
  dag::Graph graph("gate");
  auto first = graph.task("first", [] { return 1; });
  graph.task(
      "second", [](int x) { return x + 1; }, first);
  CountingHome home(graph, lanes);
  home.shard->gate.close([] {});
  home.open_all();
  home.wait_for(1);
  REQUIRE(home.quick == 0);
  REQUIRE(home.shard->table.word(0).state == dag::RowState::running);
  REQUIRE(home.shard->table.word(1).open == 1);
}

TEST_CASE("lanes give way to other threads as far as they are told, with the threads of their kernels") {
  const int before = niceness_here();
  dag::Lanes lanes({.cores = {-1}, .spin = dag::Duration{0}, .niceness = 17}, {});
  dag::Graph graph("nice");
  graph.task("own", niceness_here);
  graph.task("of its thread", [] {
    int niceness = 0;
    std::thread([&] { niceness = niceness_here(); }).join();
    return niceness;
  });
  CountingHome home(graph, lanes);
  home.open_all();
  home.wait_for(2);
  for (const dag::RowIndex row : {0u, 1u})
    CHECK(dag::detail::from_blob<int>(home.shard->table[row].output.load()) == 17);
  CHECK(niceness_here() == before);
}

TEST_CASE("a kernel that does not return costs its lane, not the others' work") {
  static std::atomic<bool> release;
  static std::atomic<bool> started;
  release = false;
  started = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<dag::TaskId> ended;
  const auto done = [&](dag::AttemptEnd&& end) {
    const std::lock_guard lock(mutex);
    ended.push_back(end.task);
    changed.notify_all();
  };
  const auto page = std::make_unique<dag::RunningPage>();
  std::atomic<int> progress_over = 0;
  struct Events final : dag::LaneEvents {
    explicit Events(std::atomic<int>& overs) : count(overs) {}
    bool follows_progress() const override { return true; }
    void progress_over(const dag::Speaker& by) override { count += by.name == "stuck" ? 1 : 100; }
    std::atomic<int>& count;
  };
  dag::Lanes lanes({.cores = {-1}, .spin = dag::Duration{0}, .running = page.get()},
                   std::make_unique<Events>(progress_over));
  dag::Graph graph("stuck");
  graph.task("stuck", [](dag::Context& context) {
    context.progress(0.5);
    started = true;
    started.notify_all();
    release.wait(false);
    return context.cancelled();
  });
  graph.task("next", [] { return 1; });
  const dag::detail::Fragment fragment = graph.builder().sealed();
  const auto attempt = [&](std::uint32_t task) {
    dag::Attempt made;
    made.task = {0, task};
    made.id = {{1, 1}, 1};
    made.name = fragment.name(task);
    made.code = fragment.codes[fragment.kind(task).code];
    return made;
  };
  lanes.start(attempt(0), dag::normal, done);
  started.wait(false);
  lanes.start(attempt(1), dag::normal, done);
  CHECK(lanes.places({}) == std::map<dag::TaskId, std::uint64_t>{{{0, 1}, 1}});
  lanes.cancel({}, {0, 0}, {{1, 1}, 1});
  CHECK(progress_over == 0);
  REQUIRE(lanes.abandon({}, {0, 0}, {{1, 1}, 1}));
  CHECK(progress_over == 1);
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !ended.empty(); });
    REQUIRE(ended.front() == dag::TaskId{0, 1});
  }
  // The kernel still runs, and its lane does not run it.
  const std::vector<dag::RunningNow> still = lanes.running_now();
  REQUIRE(still.size() == 1);
  CHECK(still[0].given_up);
  CHECK(still[0].task == dag::TaskId{0, 0});
  CHECK(still[0].number == 1);
  CHECK(page->running().empty());
  release = true;
  release.notify_all();
  // The waiter for the kernel hears of its end all the same.
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended.size() == 2; });
  CHECK(ended.back() == dag::TaskId{0, 0});
}

TEST_CASE("an attempt is said to have begun when its kernel does, and not while it waits for a lane") {
  struct alignas(64) Ring {
    std::array<std::byte, 1 << 12> bytes{};
  };
  Ring ring;
  dag::LanesOptions options{.cores = {-1}, .spin = dag::Duration{0}};
  dag::make_event_ring(ring.bytes);
  options.records.rings.emplace_back(ring.bytes);
  static std::atomic<bool> release;
  release = false;
  std::atomic<int> began = 0, ended = 0;
  std::vector<std::string> told;
  {
    dag::Lanes lanes(std::move(options), {});
    dag::Graph graph("queue");
    graph.task("first", [] {
      release.wait(false);
      return 1;
    });
    const dag::detail::Fragment fragment = graph.builder().sealed();
    const auto start = [&](std::uint32_t number) {
      dag::Attempt attempt;
      attempt.task = {0, number};
      attempt.id = {{1, 1}, 1};
      attempt.code = fragment.codes[fragment.kind(0).code];
      lanes.start(
          attempt, dag::normal,
          [&](dag::AttemptEnd&&) {
            ++ended;
            ended.notify_all();
          },
          {},
          [&] {
            ++began;
            began.notify_all();
          });
    };
    for (const std::uint32_t number : {0u, 1u, 2u}) start(number);
    began.wait(0);
    CHECK(began == 1);
    // The task waits for the lane that the first one has, and is not wanted any more.
    lanes.cancel({}, {0, 2}, {{1, 1}, 1});
    release = true;
    release.notify_all();
    for (int n = 0; n < 3; n = ended) ended.wait(n);
    CHECK(began == 2);
  }
  dag::EventRingReader(ring.bytes).take([&](std::span<const std::byte> bytes) {
    const auto record = dag::read_record(bytes).value();
    told.push_back(std::to_string(record.task.index) +
                   (std::holds_alternative<dag::event::Started>(record.what) ? " started" : " ran"));
  });
  CHECK(told == std::vector<std::string>{"0 started", "0 ran", "1 started", "1 ran"});
}

TEST_CASE("a shard that is retired while its rows run and wait is destroyed when no lane is near it") {
  const auto lane_count = GENERATE(1u, 2u, 4u);
  dag::Lanes lanes({.cores = std::vector<int>(lane_count, -1), .spin = dag::Duration{0}}, {});
  for (int round = 0; round < 30; ++round) {
    dag::Graph graph("wide");
    auto root = graph.task("root", [] { return 1; });
    for (int i = 0; i < 100; ++i) {
      auto first = graph.task(
          "first", [](int x) { return x; }, root);
      graph.task(
          "second", [](int x) { return x; }, first);
    }
    std::weak_ptr<dag::LaneShard> retired;
    CountingHome kept(graph, lanes);
    {
      CountingHome home(graph, lanes);
      retired = home.shard;
      home.shard->report = [](dag::LaneReport&&) {};
      home.open_all();
      kept.open_all();
      if (round % 2 == 0) std::this_thread::yield();
    }
    kept.wait_for(201);  // Rows of other shards than the retired one are not lost.
    CHECK(kept.quick == 201);
    while (!retired.expired()) {  // Lanes let go of it when they run dry: here is a reason to.
      dag::Graph more("more");
      more.task("one", [] { return 1; });
      CountingHome another(more, lanes);
      another.open_all();
      another.wait_for(1);
    }
  }
}

TEST_CASE("who wants to know is told once when a lane has nothing to do") {
  std::atomic<int> told = 0;
  struct Events final : dag::LaneEvents {
    explicit Events(std::atomic<int>& times) : count(times) {}
    void dry() override { ++count; }
    std::atomic<int>& count;
  };
  dag::Lanes lanes({.cores = {-1, -1}}, std::make_unique<Events>(told));
  dag::Graph graph("some");
  for (int i = 0; i < 10; ++i) graph.task("one", [] { return 1; });
  CountingHome home(graph, lanes);
  lanes.tell_when_dry();
  home.open_all();
  home.wait_for(10);
  while (told == 0) std::this_thread::yield();
  CountingHome again(graph, lanes);
  again.open_all();
  again.wait_for(10);
  while (lanes.idle() < lanes.count()) std::this_thread::yield();
  CHECK(told == 1);
}

TEST_CASE("rows for another process are each given or run, not both") {
  dag::Lanes lanes({.cores = {-1, -1}, .spin = dag::Duration{0}}, {});
  dag::Graph graph("many");
  for (int i = 0; i < 5000; ++i) graph.task("one", [] { return 1; });
  CountingHome home(graph, lanes);
  home.open_all();
  std::size_t given = 0;
  for (int i = 0; i < 100; ++i) {
    const std::vector<dag::RowIndex> rows = lanes.take_rows(*home.shard, 10);
    REQUIRE(rows.size() <= 10);
    for (const dag::RowIndex row : rows) {
      REQUIRE(home.shard->table.apply(row, dag::LentOut{}).what == dag::Do::run);
    }
    given += rows.size();
  }
  home.wait_for(5000 - given);
  CHECK(home.quick == 5000 - given);
}

TEST_CASE("a sleeping lane is woken for each row, whoever comes when") {
  dag::Lanes lanes({.cores = {-1, -1}, .spin = dag::Duration{0}}, {});
  dag::Graph graph("trickle");
  for (int i = 0; i < 2000; ++i) graph.task("one", [] { return 1; });
  CountingHome home(graph, lanes);
  for (dag::RowIndex row = 0; row < home.shard->table.size(); ++row) {
    home.shard->table.apply(row, dag::PredecessorEnded{});
    lanes.make_ready(*home.shard, row);
    if (row % 7 == 0) home.wait_for(row + 1);  // All lanes are about to sleep, or do.
  }
  home.wait_for(2000);
  CHECK(home.quick == 2000);
  CHECK(lanes.queued() == 0);
}
