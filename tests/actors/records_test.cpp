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

/// A process without others, whose jobs and log the test hears.
class Alone final : public dag::ProcessPort, public dag::JobListener, public dag::ReplicaTransport {
 public:
  static constexpr dag::JobId submitted{7};

  std::vector<std::string> said;
  std::map<dag::JobId, dag::Error> lost_here;
  std::promise<std::optional<dag::Error>> over;

  dag::Instant now() override { return dag::steady_now(); }
  void send(dag::Life, dag::JobMessage) override { std::abort(); }  // There is nobody else.
  void log(std::string_view line) override { said.emplace_back(line); }

  void settled(dag::JobId, std::uint32_t, dag::Outcome, dag::Blob, std::optional<dag::Error>) override {}
  void ended(dag::JobId, std::optional<dag::Error> stopped, const dag::CellCounts&) override {
    over.set_value(std::move(stopped));
  }
  void lost(dag::JobId job, dag::Error why) override {
    if (job == submitted) {
      over.set_value(std::move(why));
    } else {
      lost_here.emplace(job, std::move(why));
    }
  }

  void send(dag::Life, dag::consensus::Addressed) override {}
  void send(dag::Life, dag::keeper::SaveCopy) override {}
};

/// By a node that has this on its disk.
std::deque<dag::JournalEvent> run(const dag::Graph& graph, dag::Representation representation, Alone& alone,
                                  dag::NodeSetup setup = {self, {self}}) {
  SharedSink sink;
  dag::SystemConfig config;
  caf::actor_system system(config);
  dag::Lanes lanes({.cores = {-1, -1}, .spin = dag::Duration{0}}, {});
  const dag::Ports ports{.process = alone, .listener = &alone, .replicas = &alone};
  const auto node = system.spawn<dag::NodeActor>(std::move(setup), lanes, ports, sink);
  caf::anon_send(node, dag::mail::Recover{});
  auto plan = std::make_shared<dag::JobPlan>();
  plan->job = Alone::submitted;
  plan->graph = std::make_shared<const dag::detail::Fragment>(graph.builder().sealed());
  plan->shard_of.assign(plan->graph->size(), 0);
  plan->representation = representation;
  caf::anon_send(node, dag::mail::Submit{plan});
  const auto stopped = alone.over.get_future().get();
  caf::anon_send_exit(node, caf::exit_reason::user_shutdown);
  system.await_all_actors_done();
  if (stopped) FAIL(stopped->message());
  return sink.records();
}

std::deque<dag::JournalEvent> run(const dag::Graph& graph, dag::Representation representation) {
  Alone alone;
  return run(graph, representation, alone);
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
  dag::NodeSetup setup{self, {self}};
  setup.records.seat = {self.process, 1};
  setup.records.codes = &dag::wire::CodeMap::of_this_process();
  dag::consensus::Snapshot snapshot;
  snapshot.configuration.voters = {setup.records.seat};
  snapshot.state = dag::detail::to_blob(std::string("this is none"));
  setup.logs[unreadable].snapshot = snapshot;

  dag::Graph g("well");
  static_cast<void>(g.task("one", [] { return 1; }));
  Alone alone;
  CHECK_FALSE(run(g, dag::Representation::as_needed, alone, std::move(setup)).empty());
  REQUIRE(alone.said.size() == 1);
  CHECK_THAT(alone.said[0],
             Catch::Contains("the copy of the record of job5") && Catch::Contains("cannot be read"));
  REQUIRE(alone.lost_here.size() == 1);
  CHECK(alone.lost_here.at(unreadable).code == dag::ErrorCode::log_damaged);
}
