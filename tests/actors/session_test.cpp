// The public API against a real node in this process: real actors, real lanes. Every case runs in both
// representations of tasks, as bare rows where that is possible, and every task supervised.

#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "tests/support/temporary_directory.hpp"
#include "tests/support/test_session.hpp"

using dag::test::error_of;
using dag::test::TestSession;

namespace {

struct Ledger {
  int sum = 0;
  int add(int x) { return sum += x; }
  int total() const { return sum; }
  void save(dag::Writer& w) const { dag::encode(w, sum); }
  static Ledger restore(dag::Reader& r) { return {dag::decode<int>(r)}; }
};

}  // namespace

TEST_CASE("hello") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("hello");
  auto hi = g.task("hi", [] { return std::string("hello"); });
  auto len = g.task(
      "len", [](std::string t) { return t.size(); }, hi);
  REQUIRE(session->submit(g).get(len) == 5);
}

TEST_CASE("inputs arrive as they were given: copies, spans, views, gathered, optional") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("inputs");
  auto numbers = g.task("numbers", [] { return std::vector<double>{1, 2, 3}; });
  auto word = g.task("word", [] { return std::string("abc"); });
  auto sum = g.task(
      "sum", [](std::span<const double> v) { return std::accumulate(v.begin(), v.end(), 0.0); }, numbers);
  auto both = g.task(
      "both",
      [](std::string_view s, double d, const std::map<std::string, int>& m) {
        return static_cast<double>(s.size()) + d + m.at("x");
      },
      word, sum, std::map<std::string, int>{{"x", 10}});
  auto all = g.task(
      "all", [](const std::vector<double>& parts) { return parts.size(); },
      std::vector<dag::Output<double>>{sum, both, sum});
  auto job = session->submit(g);
  REQUIRE(job.get(both) == 19.0);
  REQUIRE(job.get(all) == 3);
  REQUIRE(job.wait());
}

TEST_CASE("counts are those of now while the job runs") {
  static std::atomic<bool> released;
  released = false;
  TestSession session(GENERATE(false, true));
  dag::Graph g("counted");
  g.task("first", [] { return 1; });
  g.task("waits", [](dag::Context& c) {
    while (!released.load() && !c.cancelled()) std::this_thread::yield();
    return 2;
  });
  auto job = session->submit(g);
  const auto finished = [&] {
    for (const auto& [outcome, count] : job.counts()) {
      if (outcome == dag::Outcome::finished) return count;
    }
    return std::uint64_t{0};
  };
  while (finished() == 0) REQUIRE_FALSE(job.wait(std::chrono::milliseconds(1)));
  REQUIRE(finished() == 1);
  released = true;
  REQUIRE(job.wait());
  REQUIRE(finished() == 2);
}

TEST_CASE("the needs of a spawned task are checked as those of a submitted one") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("greedy");
  auto grows = g.task(
      "grows", [](dag::Context& c) { return c.spawn("greedy", [] { return 1; }).needs({.gpus = 17}); });
  auto job = session->submit(g);
  const dag::Error error = error_of([&] { job.get(grows); });
  REQUIRE(error.message().find("no node could ever run task 'greedy'") != std::string::npos);
}

TEST_CASE("a failure that every successor tolerates does not fail the job") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("tolerant");
  const auto fails = []() -> int { throw std::runtime_error("no such shard"); };
  auto bad = g.task("bad", fails);
  auto good = g.task("good", [] { return 1; });
  auto most = g.task(
      "most", [](const std::vector<std::optional<int>>& some) { return some.size(); },
      dag::quorum(1, std::vector<dag::Output<int>>{bad, good}));
  auto staged = g.task("staged", fails).effects(dag::staged);
  auto maybe = g.task(
      "maybe", [](std::optional<int> x) { return x.has_value(); }, dag::maybe(staged));
  // The job tolerates what a task becomes as it tolerates the task.
  auto grows = g.task("grows", [](dag::Context& c) {
    return c.spawn("leaf", []() -> int { throw std::runtime_error("no leaf"); });
  });
  auto last = g.task("last", [] { return true; }).after_any_outcome(grows);
  auto job = session->submit(g);
  REQUIRE(job.get(most) == 2);
  REQUIRE_FALSE(job.get(maybe));
  REQUIRE(job.get(last));
  REQUIRE(job.outcome(bad) == dag::Outcome::failed);
  REQUIRE(job.outcome(staged) == dag::Outcome::failed);
  REQUIRE(job.outcome(grows) == dag::Outcome::failed);
  REQUIRE(job.wait());
}

TEST_CASE("a quorum that is not reached tolerates no failure, and a task without successors neither") {
  TestSession session(GENERATE(false, true));
  const bool has_quorum = GENERATE(false, true);
  dag::Graph g("intolerant");
  auto bad = g.task("bad", []() -> int { throw std::runtime_error("no such shard"); });
  auto good = g.task("good", [] { return 1; });
  if (has_quorum) {
    g.task(
        "both", [](const std::vector<std::optional<int>>& all) { return all.size(); },
        dag::quorum(2, std::vector<dag::Output<int>>{bad, good}));
  }
  REQUIRE_FALSE(session->submit(g).wait());
}

TEST_CASE("a failure cancels what depends on it strongly, and its message names the causes") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("failing");
  auto bad = g.task("load", []() -> int { throw std::runtime_error("no such shard"); });
  auto next = g.task(
      "train", [](int x) { return x; }, bad);
  auto weak = g.task(
      "report", [](std::optional<int> x) { return x.has_value(); }, dag::maybe(next));
  auto job = session->submit(g);
  REQUIRE(job.outcome(bad) == dag::Outcome::failed);
  REQUIRE(job.outcome(next) == dag::Outcome::cancelled);
  REQUIRE_FALSE(job.get(weak));
  REQUIRE_FALSE(job.wait());
  const dag::Error error = error_of([&] { job.get(bad); });
  REQUIRE(error.message().find("no such shard") != std::string::npos);
  const dag::Error later = error_of([&] { job.get(next); });
  REQUIRE(later.message().find("no such shard") != std::string::npos);
}

TEST_CASE("a quorum runs with what is left, and is skipped below it") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("quorum");
  std::vector<dag::Output<int>> shards;
  for (int i = 0; i < 4; ++i) {
    shards.push_back(g.task(
        "shard",
        [](int n) {
          if (n == 2) throw std::runtime_error("bad shard");
          return n;
        },
        i));
  }
  const auto count = [](const std::vector<std::optional<int>>& parts) {
    int there = 0;
    for (const auto& part : parts) there += part.has_value() ? 1 : 0;
    return there;
  };
  auto three = g.task("three", count, dag::quorum(3, shards));
  auto four = g.task("four", count, dag::quorum(4, shards));
  auto job = session->submit(g);
  REQUIRE(job.get(three) == 3);
  REQUIRE(job.outcome(four) == dag::Outcome::skipped);
}

TEST_CASE("conditions skip one branch, and a join takes the other") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("branches");
  auto score = g.task("score", [] { return 0.95; });
  auto deploy = g.task(
                     "deploy", [](double s) { return s; }, score)
                    .only_if(score, [](double s) { return s > 0.9; });
  auto more = g.task(
                   "more", [](double s) { return s; }, score)
                  .only_if(score, [](double s) { return s <= 0.9; });
  auto after = g.task(
      "after", [](double s) { return s; }, more);
  auto either = g.task("either", [] { return 1; }).after(deploy).after(more).join(dag::one_success);
  auto job = session->submit(g);
  REQUIRE(job.get(deploy) == 0.95);
  REQUIRE(job.outcome(more) == dag::Outcome::skipped);
  REQUIRE(job.outcome(after) == dag::Outcome::skipped);
  REQUIRE(job.get(either) == 1);
  REQUIRE(job.wait());
}

TEST_CASE("a failing kernel is tried again, with a backoff, as often as its policy says") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("retries");
  const auto flaky = [](dag::Context& c, std::uint32_t good) {
    if (c.attempt() < good) throw std::runtime_error("try " + std::to_string(c.attempt()));
    return c.attempt();
  };
  using namespace std::chrono_literals;
  auto third = g.task("third", flaky, 3u).retry({.attempts = 3, .backoff = 1ms});
  auto never = g.task("never", flaky, 9u).retry({.attempts = 2, .backoff = 1ms});
  auto job = session->submit(g);
  REQUIRE(job.get(third) == 3);
  const dag::Error error = error_of([&] { job.get(never); });
  REQUIRE(error.message().find("try 2") != std::string::npos);
}

namespace {

/// Shared by the kernels of a gang.
std::atomic<int> gang_started, gang_stopped;
std::atomic<bool> gang_released;

int gang_worker(dag::Context& context) {
  ++gang_started;
  while (!context.cancelled() && !gang_released) std::this_thread::yield();
  if (!gang_released) ++gang_stopped;
  return 1;
}

}  // namespace

TEST_CASE("a gang starts again together when one of its members fails") {
  gang_started = gang_stopped = 0;
  gang_released = false;
  TestSession session(GENERATE(false, true), "3");
  dag::Graph g("gang");
  const auto gang = g.group("workers", dag::one_for_all, {.restarts = 3, .period = std::chrono::seconds(60)});
  const auto a = g.task("a", gang_worker).in(gang), b = g.task("b", gang_worker).in(gang);
  const auto c = g.task("c",
                        [](dag::Context& context) {
                          const int tries = static_cast<int>(context.attempt());
                          while (gang_started < 2 * tries) std::this_thread::yield();
                          if (tries == 1) throw std::runtime_error("the link broke");
                          gang_released = true;
                          return tries;
                        })
                     .in(gang)
                     .retry({.backoff = std::chrono::milliseconds(1)});
  const auto sum = g.task(
      "sum", [](int x, int y, int z) { return x + y + z; }, a, b, c);
  CHECK(session->submit(g).get(sum) == 4);
  CHECK(gang_started == 4);
  CHECK(gang_stopped == 2);
}

TEST_CASE("a group gives up after its restarts, and its errors name the group and the last failure") {
  gang_started = gang_stopped = 0;
  gang_released = false;
  TestSession session(GENERATE(false, true));
  dag::Graph g("gang");
  const auto gang = g.group("workers", dag::one_for_one, {.restarts = 2, .period = std::chrono::seconds(90)});
  const auto a = g.task("a", gang_worker).in(gang);
  const auto b = g.task("b",
                        [](dag::Context& context) -> int {
                          throw std::runtime_error("no luck " + std::to_string(context.attempt()));
                        })
                     .in(gang)
                     .retry({.backoff = std::chrono::milliseconds(1)});
  const dag::Job job = session->submit(g);
  const dag::Error failed = error_of([&] { job.get(b); });
  CHECK(failed.code == dag::ErrorCode::task_failed);
  CHECK_THAT(failed.message(), Catch::Contains("the group 'workers' went down more than 2 times in 90 s") &&
                                   Catch::Contains("no luck 3"));
  const dag::Error cancelled = error_of([&] { job.get(a); });
  CHECK(cancelled.code == dag::ErrorCode::task_cancelled);
  CHECK_THAT(cancelled.message(),
             Catch::Contains("the group 'workers' gave up") && Catch::Contains("no luck 3"));
}

TEST_CASE("a task that fails goes on from what it saved, and one that was not told to begins anew") {
  TestSession session(GENERATE(false, true));
  const bool told = GENERATE(true, false);
  const auto steps_by_attempt = [](dag::Context& context) {
    std::vector<std::uint32_t> steps =
        context.restore<std::vector<std::uint32_t>>().value_or(std::vector<std::uint32_t>{});
    while (steps.size() < 5) {
      steps.push_back(context.attempt());
      context.checkpoint(steps);
      if (context.attempt() == 1 && steps.size() == 3) throw std::runtime_error("midway");
    }
    return steps;
  };
  dag::Graph g("saving");
  auto count = g.task("count", steps_by_attempt);
  count.retry({.attempts = 2, .backoff = std::chrono::nanoseconds(0)});
  if (told) count.checkpoint(std::chrono::nanoseconds(1));
  const std::vector<std::uint32_t> expected =
      told ? std::vector<std::uint32_t>{1, 1, 1, 2, 2} : std::vector<std::uint32_t>(5, 2);
  CHECK(session->submit(g).get(count) == expected);
}

TEST_CASE("an attempt that takes too long fails; its kernel is told") {
  TestSession session(GENERATE(false, true));
  static std::atomic<bool> told;
  told = false;
  dag::Graph g("timeout");
  using namespace std::chrono_literals;
  auto slow = g.task("slow", [](dag::Context& c) {
                 while (!c.cancelled()) std::this_thread::yield();
                 told = true;
                 told.notify_all();
                 return 1;
               }).timeout(20ms);
  auto job = session->submit(g);
  const dag::Error error = error_of([&] { job.get(slow); });
  REQUIRE(error.message().find("timed_out") != std::string::npos);
  told.wait(false);
}

TEST_CASE("a task grows the graph and becomes what it spawned") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("spawn");
  auto sum = g.task(
      "fan",
      [](dag::Context& c, int n) {
        std::vector<dag::Output<int>> parts;
        for (int i = 1; i <= n; ++i)
          parts.push_back(c.spawn(
              "part", [](int x) { return x * x; }, i));
        return c.spawn(
            "sum", [](const std::vector<int>& xs) { return std::accumulate(xs.begin(), xs.end(), 0); },
            parts);
      },
      10);
  auto next = g.task(
      "next", [](int x) { return x + 1; }, sum);
  auto job = session->submit(g);
  REQUIRE(job.get(next) == 386);
  REQUIRE(job.get(sum) == 385);
  REQUIRE(job.wait());
}

namespace {
dag::Output<std::uint64_t> countdown(dag::Context& c, std::uint64_t n, std::uint64_t sum) {
  if (n == 0)
    return c.spawn(
        "done", [](std::uint64_t x) { return x; }, sum);
  return c.spawn("step", countdown, n - 1, sum + n);
}
}  // namespace

TEST_CASE("a loop of thousands of steps, each becoming the next, ends and gives its value") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("loop");
  auto loop = g.task("loop", countdown, 5000ull, 0ull);
  REQUIRE(session->submit(g).get(loop) == 5000ull * 5001 / 2);
}

TEST_CASE("calls of a job actor run in the order they were added") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("ledger");
  auto ledger = g.actor<Ledger>("ledger");
  std::vector<dag::Output<int>> sums;
  for (int i = 1; i <= 50; ++i) sums.push_back(ledger.call<&Ledger::add>(i));
  auto spawned = g.task(
      "spawner",
      [](dag::Context& c, dag::Actor<Ledger> l, int) {
        c.call<&Ledger::add>(l, 1000);
        return c.call<&Ledger::total>(l);
      },
      ledger, sums.back());
  auto job = session->submit(g);
  for (int i = 1; i <= 50; ++i) REQUIRE(job.get(sums[static_cast<std::size_t>(i - 1)]) == i * (i + 1) / 2);
  REQUIRE(job.get(spawned) == 2275);
  REQUIRE(job.wait());
}

TEST_CASE("a call that throws midway rolls the actor back to its last save, and the rest is right") {
  TestSession session(GENERATE(false, true));
  static std::atomic<int> failures;
  failures = 0;
  struct Careless {
    int sum = 0;
    int add(int x) {
      sum += x;
      if (x == 7 && failures++ == 0) throw std::runtime_error("midway");
      return sum;
    }
    void save(dag::Writer& w) const { dag::encode(w, sum); }
    static Careless restore(dag::Reader& r) { return {dag::decode<int>(r)}; }
  };
  dag::Graph g("careless");
  using namespace std::chrono_literals;
  auto actor = g.actor<Careless>("careless");
  std::optional<dag::Output<int>> last;
  for (int i = 1; i <= 10; ++i) {
    last = actor.call<&Careless::add>(i).retry({.attempts = 3, .backoff = 1ms});
    if (i == 5) static_cast<void>(actor.save());
  }
  auto job = session->submit(g);
  REQUIRE(job.get(*last) == 55);
  REQUIRE(failures == 1 + 1);
  REQUIRE(job.wait());
}

TEST_CASE("an actor is saved where it may be when that is time, and its calls do not notice") {
  using namespace std::chrono_literals;
  const bool soon = GENERATE(true, false);
  TestSession session(GENERATE(false, true));
  static std::atomic<int> saves;
  saves = 0;
  struct Summing {
    int sum = 0;
    int add(int x) { return sum += x; }
    void save(dag::Writer& w) const {
      ++saves;
      dag::encode(w, sum);
    }
    static Summing restore(dag::Reader& r) { return {dag::decode<int>(r)}; }
  };
  dag::Graph g("summing");
  auto actor = g.actor<Summing>("summing");
  std::optional<dag::Output<int>> last;
  for (int i = 1; i <= 10; ++i) {
    last = actor.call<&Summing::add>(i);
    actor.save_when_due(soon ? std::chrono::nanoseconds(1) : std::chrono::nanoseconds(1h));
  }
  auto job = session->submit(g);
  REQUIRE(job.get(*last) == 55);
  REQUIRE(job.wait());
  REQUIRE(saves == (soon ? 10 : 0));
}

TEST_CASE("cancelling ends a job that would not end") {
  TestSession session(GENERATE(false, true));
  static std::atomic<bool> running;
  running = false;
  dag::Graph g("endless");
  auto endless = g.task("endless", [](dag::Context& c) {
    running = true;
    running.notify_all();
    while (!c.cancelled()) std::this_thread::yield();
    return 1;
  });
  auto after = g.task(
      "after", [](int x) { return x; }, endless);
  auto job = session->submit(g);
  running.wait(false);
  job.cancel();
  REQUIRE(job.outcome(after) == dag::Outcome::cancelled);
  REQUIRE_FALSE(job.wait());
}

TEST_CASE("outputs come in the order in which they end") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("completed");
  auto first = g.task("first", [] { return 1; });
  auto second = g.task(
      "second", [](int x) { return x + 1; }, first);
  auto third = g.task(
      "third", [](int x) { return x + 1; }, second);
  auto job = session->submit(g);
  std::vector<int> seen;
  for (const auto& output : session->as_completed(std::vector{third, second, first, third}))
    seen.push_back(job.get(output));
  std::sort(seen.begin(), seen.end());
  REQUIRE(seen == std::vector<int>{1, 2, 3, 3});  // A handle that is named twice comes twice.
}

TEST_CASE("what cannot run is refused before anything runs") {
  TestSession session(false);
  SECTION("a cycle is named") {
    dag::Graph g("cycle");
    auto a = g.task("a", [] { return 1; });
    auto b = g.task(
        "b", [](int x) { return x; }, a);
    a.after(b);
    const dag::Error error = error_of([&] { session->submit(g); });
    REQUIRE(error.code == dag::ErrorCode::job_has_cycle);
    REQUIRE(error.what.find("a") != std::string::npos);
    REQUIRE(error.what.find("b") != std::string::npos);
  }
  SECTION("two actors of one name") {
    dag::Graph g("names");
    static_cast<void>(g.actor<Ledger>("ledger"));
    static_cast<void>(g.actor<Ledger>("ledger"));
    REQUIRE(error_of([&] { session->submit(g); }).code == dag::ErrorCode::actor_name_taken);
  }
  SECTION("a handle of another graph") {
    dag::Graph g("one"), h("two");
    auto a = g.task("a", [] { return 1; });
    REQUIRE(error_of([&] {
              h.task(
                  "b", [](int x) { return x; }, a);
            }).code == dag::ErrorCode::handle_foreign);
  }
  SECTION("a flag that nobody knows") {
    int argc = 2;
    char name[] = "test", flag[] = "--dag-lames=2";
    char* argv[] = {name, flag, nullptr};
    REQUIRE(error_of([&] { dag::Session other(argc, argv); }).code == dag::ErrorCode::usage);
  }
}

TEST_CASE("effects wait for settled inputs and run once") {
  TestSession session(GENERATE(false, true));
  static std::atomic<int> runs;
  runs = 0;
  dag::Graph g("effects");
  auto value = g.task("value", [] { return 42; });
  auto publish = g.task(
                      "publish", [](int x) { runs += x; }, value)
                     .effects(dag::idempotent);
  auto job = session->submit(g);
  job.get(publish);
  REQUIRE(job.wait());
  REQUIRE(runs == 42);
}

TEST_CASE("a family computes what its loops would") {
  TestSession session(GENERATE(false, true));
  using Number = std::uint64_t;
  const auto cell = [](Number row, Number column, const std::vector<Number>& before, Number salt,
                       Number own) {
    Number all = row * 31 + column * 17 + salt + own;
    for (const Number one : before) all = all * 1099511628211ULL + one;
    return all;
  };
  constexpr std::uint32_t rows = 20, columns = 6;
  dag::Graph g("family");
  const auto salt = g.task("salt", [] { return Number{5}; });
  const auto own = g.family("own", dag::Range{rows, columns},
                            [](dag::Point at) { return Number{at.row} ^ at.column; }, {});
  const auto cells = g.family(
      "cell", dag::Range{rows, columns},
      [](dag::Context&, dag::Point at, std::vector<Number> before, Number salted, Number mine) {
        Number all = at.row * 31 + at.column * 17 + salted + mine;
        for (const Number one : before) all = all * 1099511628211ULL + one;
        return all;
      },
      {{-1, -1}, {-1, 0}, {-1, 1}}, salt, own);
  const auto last = g.task(
      "last", [](std::vector<Number> row) { return row; }, cells.row(rows - 1));
  std::vector<Number> expected(columns, 0), above;
  for (std::uint32_t row = 0; row < rows; ++row) {
    above = expected;
    for (std::uint32_t column = 0; column < columns; ++column) {
      std::vector<Number> before;
      for (int k = -1; k <= 1; ++k) {
        const int there = static_cast<int>(column) + k;
        if (row > 0 && there >= 0 && there < static_cast<int>(columns)) {
          before.push_back(above[static_cast<std::size_t>(there)]);
        }
      }
      expected[column] = cell(row, column, before, 5, Number{row} ^ column);
    }
  }
  REQUIRE(session->submit(g).get(last) == expected);
}

TEST_CASE("several jobs at once, and one graph twice") {
  TestSession session(GENERATE(false, true));
  dag::Graph g("twice");
  auto chain = g.task("zero", [] { return 0; });
  for (int i = 0; i < 200; ++i)
    chain = g.task(
        "plus", [](int x) { return x + 1; }, chain);
  auto one = session->submit(g);
  auto two = session->submit(g);
  REQUIRE(one.get(chain) == 200);
  REQUIRE(two.get(chain) == 200);
  REQUIRE(one.id() != two.id());
}

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool freed_is_kept = true;  // For a while: the sanitizer looks for late uses.
#else
constexpr bool freed_is_kept = false;
#endif

/// In use by this process.
std::size_t resident_bytes() {
  std::size_t all_pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> all_pages >> resident_pages;
  return resident_pages * 4096;
}

}  // namespace

TEST_CASE("a job whose handle is gone leaves nothing behind") {
  const bool supervised = GENERATE(false, true);
  TestSession session(supervised);
  const int tasks = supervised ? 2000 : 20'000;
  dag::Graph graph("many");
  for (int i = 0; i < tasks; ++i) graph.task("one", [] { return 1; });
  const auto run_some = [&] {
    for (int jobs = 0; jobs < 40; ++jobs) session->submit(graph).wait();
  };
  run_some();  // Until the allocator has what it takes for one job, wherever its threads run.
  const std::size_t before = resident_bytes();
  run_some();
  // A bare row used to leave some 400 bytes, 300 MB; allocators keep some tens for their threads.
  CHECK((freed_is_kept || resident_bytes() < before + (60u << 20)));
}

TEST_CASE("staged files are in their place when anybody sees the end of their task, and only then") {
  const dag::test::TemporaryDirectory directory;
  const std::string place = directory.path().string() + "/out";
  TestSession session(GENERATE(false, true));
  dag::Graph g("staging");
  const auto write = [](dag::Context& context, std::string path) {
    std::ofstream(context.stage(path)) << "try " << context.attempt();
    if (context.attempt() < 3) throw std::runtime_error("not yet");
    if (std::filesystem::exists(path)) throw std::runtime_error("it is there already");
    return context.attempt();
  };
  auto written = g.task("write", write, place).effects(dag::staged).retry({.attempts = 3});
  auto read = g.task(
      "read",
      [](std::string path, unsigned) {
        std::ifstream file(path);
        return std::string(std::istreambuf_iterator<char>(file), {});
      },
      place, written);
  auto job = session->submit(g);
  CHECK(job.get(written) == 3);
  CHECK(std::filesystem::exists(place));
  CHECK(job.get(read) == "try 3");
}

TEST_CASE("a task that stages and fails has failed, and has published nothing") {
  const dag::test::TemporaryDirectory directory;
  const std::string place = directory.path().string() + "/out";
  TestSession session(GENERATE(false, true));
  dag::Graph g("staging");
  auto fails = g.task(
                    "fails",
                    [](dag::Context& context, std::string path) {
                      std::ofstream(context.stage(path)) << "half";
                      throw std::runtime_error("disk on fire");
                    },
                    place)
                   .effects(dag::staged);
  auto forgets = g.task(
                      "forgets", [](dag::Context& context, std::string path) { context.stage(path); }, place)
                     .effects(dag::staged);
  auto undeclared = g.task(
      "undeclared",
      [](dag::Context& context, std::string path) {
        context.stage(path);
        return 1;
      },
      place);
  auto nowhere = g.task(
                      "nowhere",
                      [](dag::Context& context, std::string path) {
                        std::ofstream(context.stage(path + "/missing/out")) << "x";
                      },
                      directory.path().string())
                     .effects(dag::staged);
  auto job = session->submit(g);
  const dag::Error of_fails = error_of([&] { job.get(fails); });
  CHECK(of_fails.code == dag::ErrorCode::task_failed);
  CHECK_THAT(of_fails.what, Catch::Contains("task 'fails'") && Catch::Contains("disk on fire"));
  CHECK(job.outcome(fails) == dag::Outcome::failed);
  CHECK_THAT(error_of([&] { job.get(forgets); }).message(), Catch::Contains("was staged, and not written"));
  CHECK_THAT(error_of([&] { job.get(undeclared); }).message(), Catch::Contains("not declared staged"));
  CHECK_THAT(error_of([&] { job.get(nowhere); }).message(), Catch::Contains("its directory must be there"));
  CHECK(std::filesystem::is_empty(directory.path()));
}
