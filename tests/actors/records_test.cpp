// The records of a real node, real actors and lanes: of each task the same ones in both representations, as
// far as records can be compared (libdag/journal/outcome.hpp says what is and why). Random graphs, without
// actors and threads, are in tests/unit/home/random_graphs_test.cpp.

#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include <future>
#include <mutex>

#include "actors/node_actor.hpp"
#include "nodes/process/parts.hpp"
#include "tests/support/histories.hpp"

namespace {

using namespace std::chrono_literals;
using Histories = std::map<std::string, std::vector<std::string>>;

/// Home, cell and runner record on threads of their own.
class SharedSink final : public dag::EventSink {
 public:
  void record(const dag::JournalEvent& record) override {
    const std::lock_guard lock(mutex_);
    records_.push_back(record);
  }
  std::deque<dag::JournalEvent> records() const {
    const std::lock_guard lock(mutex_);
    return records_;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<dag::JournalEvent> records_;
};

constexpr dag::Life self{{0}, {1}};

/// By a node that has this on its disk, and says something of it.
std::deque<dag::JournalEvent> run(
    const dag::Graph& graph, dag::Representation representation, dag::NodeSetup setup = {self, {self}, {}},
    std::function<void(std::string_view)> log = [](std::string_view) {}) {
  SharedSink sink;
  std::promise<std::optional<dag::Error>> over;
  dag::SystemConfig config;
  caf::actor_system system(config);
  dag::Lanes lanes({.cores = {-1, -1}, .spin = dag::Duration{0}}, {});
  dag::Ports ports;
  ports.now = dag::steady_now;
  ports.send = [](dag::Life, const dag::JobMessage&) { std::abort(); };  // There is nobody else.
  ports.log = std::move(log);
  const auto node = system.spawn<dag::NodeActor>(std::move(setup), lanes, ports, sink);
  caf::anon_send(node, dag::mail::Recover{});
  auto plan = std::make_shared<dag::JobPlan>();
  plan->job = {7};
  plan->graph = std::make_shared<const dag::detail::Fragment>(graph.builder().sealed());
  plan->shard_of.assign(plan->graph->size(), 0);
  plan->representation = representation;
  dag::Follower follower;
  follower.settled = [](std::uint32_t, dag::Outcome, const dag::Blob&, const std::optional<dag::Error>&) {};
  follower.ended = [&over](std::optional<dag::Error> stopped, dag::CellCounts) {
    over.set_value(std::move(stopped));
  };
  follower.lost = [&over](dag::Error why) { over.set_value(std::move(why)); };
  caf::anon_send(node, dag::mail::Submit{plan, follower});
  const auto stopped = over.get_future().get();
  caf::anon_send_exit(node, caf::exit_reason::user_shutdown);
  system.await_all_actors_done();
  if (stopped) FAIL(stopped->message());
  return sink.records();
}

struct Sum {
  int total = 0;
  int add(int n) {
    if (n == 3) throw std::runtime_error("not three");
    return total += n;
  }
};

dag::Output<int> countdown(dag::Context& c, int n) {
  if (n == 0) return c.spawn("done", [] { return 0; });
  return c.spawn("step", countdown, n - 1);
}

}  // namespace

TEST_CASE("bare rows and supervised tasks leave the same records") {
  dag::Graph g("mixture");
  auto chain = g.task("zero", [] { return 0; });
  for (int i = 0; i < 50; ++i) {
    chain = g.task(
        "plus", [](int x) { return x + 1; }, chain);
  }
  auto flaky = g.task("flaky", [](dag::Context& c) {
                  if (c.attempt() < 3) throw std::runtime_error("try " + std::to_string(c.attempt()));
                  return 1;
                }).retry({.attempts = 3, .backoff = 1ms});
  auto broken = g.task("broken", []() -> int {
                   throw std::runtime_error("no");
                 }).retry({.attempts = 2, .backoff = 1ms});
  g.task(
      "needs it", [](int x) { return x; }, broken);
  g.task(
      "likes it", [](std::optional<int> x) { return x.has_value(); }, dag::maybe(broken));
  g.task("never", [] { return 1; }).only_if(flaky, [](int x) { return x > 1; });
  auto loop = g.task("loop", countdown, 20);
  g.task(
      "after loop", [](int x) { return x; }, loop);
  auto sum = g.actor<Sum>("sum");
  for (int i = 1; i <= 3; ++i) static_cast<void>(sum.call<&Sum::add>(i));

  const auto rows = run(g, dag::Representation::as_needed);
  const auto supervised = run(g, dag::Representation::supervised);
  const Histories one = dag::test::histories(rows), other = dag::test::histories(supervised);
  CHECK(one == other);
  CHECK(one.size() == g.builder().size() + 21);
  CHECK(one.at("51") == std::vector<std::string>{"ended: failed in 0 s: try 1", "retried after 0 s",
                                                 "ended: failed in 0 s: try 2", "retried after 0 s",
                                                 "ended: finished in 0 s", "settled: finished"});
  // The two were not run alike: a row is handed to nobody.
  const auto lent = [](const std::deque<dag::JournalEvent>& records) {
    return std::count_if(records.begin(), records.end(), [](const dag::JournalEvent& record) {
      return record.task == dag::TaskId{0, 10} && std::holds_alternative<dag::event::Lent>(record.what);
    });
  };
  CHECK(lent(rows) == 0);
  CHECK(lent(supervised) == 1);
}

TEST_CASE("a copy of a record that cannot be read is said aloud, and costs its node nothing else") {
  const dag::JobId unreadable{5};
  dag::NodeSetup setup{self, {self}, {}};
  std::vector<dag::Error> lost;
  dag::RecordPorts& records = setup.records.emplace();
  records.seat = {self.process, 1};
  records.codes = &dag::wire::CodeMap::of_this_process();
  records.send = [](dag::Life, const dag::consensus::Addressed&) {};
  records.follower = [&](dag::JobId job) {
    dag::Follower follower;
    if (job == unreadable) follower.lost = [&](dag::Error why) { lost.push_back(std::move(why)); };
    return follower;
  };
  dag::consensus::Snapshot snapshot;
  snapshot.configuration.voters = {records.seat};
  snapshot.state = dag::detail::to_blob(std::string("this is none"));
  setup.logs[unreadable].snapshot = snapshot;

  dag::Graph g("well");
  static_cast<void>(g.task("one", [] { return 1; }));
  std::vector<std::string> said;
  CHECK_FALSE(run(g, dag::Representation::as_needed, std::move(setup), [&](std::string_view line) {
                said.emplace_back(line);
              }).empty());
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("the copy of the record of job5") && Catch::Contains("cannot be read"));
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].code == dag::ErrorCode::log_damaged);
}
