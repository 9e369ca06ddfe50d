// A node and messages: of a job before it is known, of one that is over, and saves for other nodes.

#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include <future>

#include "actors/node_actor.hpp"
#include "libdag/replica/submission.hpp"
#include "nodes/process/parts.hpp"
#include "tests/support/patience.hpp"

namespace {

using namespace std::chrono_literals;

constexpr dag::Life self{{0}, {1}}, peer{{1}, {1}};
constexpr dag::JobId id{7};

class NoRecords final : public dag::EventSink {
 public:
  void record(const dag::JournalEvent&) override {}
};

/// The surroundings of a node; a test overrides what it looks at.
class Around : public dag::ProcessPort {
 public:
  dag::Instant now() override { return dag::steady_now(); }
  void send(dag::Life, dag::JobMessage) override {}
  void log(std::string_view) override {}
};

/// A node in a process of its own.
class OneNode {
 public:
  OneNode(dag::NodeSetup setup, const dag::Ports& ports)
      : system_(config_), lanes_({.cores = {-1}, .spin = dag::Duration{0}}, {}) {
    actor_ = system_.spawn<dag::NodeActor>(std::move(setup), lanes_, ports, records_);
  }
  ~OneNode() {
    caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
    actor_ = nullptr;
    system_.await_all_actors_done();
  }
  OneNode(const OneNode&) = delete;
  OneNode& operator=(const OneNode&) = delete;

  template <class Mail>
  void tell(Mail mail) {
    caf::anon_send(actor_, std::move(mail));
  }
  void hears(std::vector<dag::JobMessage> messages) {
    tell(dag::mail::Arrived{peer, std::move(messages), [] {}});
  }

 private:
  NoRecords records_;
  dag::SystemConfig config_;
  caf::actor_system system_;
  dag::Lanes lanes_;
  caf::actor actor_;
};

/// Waits for the outcomes of the job, and remembers who was asked for its plan.
class HearsOfOutcomes final : public Around {
 public:
  std::vector<std::pair<dag::Life, dag::JobId>> asked;

  void send(dag::Life to, dag::JobMessage message) override {
    if (const auto* ask = std::get_if<dag::message::AskPlan>(&message)) asked.emplace_back(to, ask->job);
    const auto* outcomes = std::get_if<dag::message::Outcomes>(&message);
    if (outcomes != nullptr && outcomes->number == 1) settles_.set_value();
  }
  bool in_time() {
    return settles_.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready;
  }

 private:
  std::promise<void> settles_;
};

std::shared_ptr<const dag::JobPlan> plan_of_one_task() {
  dag::Graph g("one");
  static_cast<void>(g.task("one", [] { return 1; }));
  auto plan = std::make_shared<dag::JobPlan>();
  plan->job = id;
  plan->graph = std::make_shared<const dag::detail::Fragment>(g.builder().sealed());
  plan->shard_of.assign(plan->graph->size(), 0);
  return plan;
}

}  // namespace

TEST_CASE("what comes of a job before it is known is not lost, whatever has come of jobs that never began") {
  HearsOfOutcomes around;
  OneNode node({self, {self, peer}}, {.process = around});
  for (int n = 0; n < 10'000; ++n) node.hears({dag::message::StealRequest{{99}, 1}});
  dag::message::JobState state;
  state.job = id;
  state.version = 1;
  state.lives = {self, peer};
  state.homes = {{self, {1, 1}}};
  state.cell = peer;
  node.hears({state});
  node.hears({dag::message::JobCreate{plan_of_one_task()}});
  CHECK(around.in_time());
}

TEST_CASE("a process that hears of a job asks its leader what it is, and the next one when that one fell") {
  std::promise<std::vector<std::pair<dag::Life, dag::JobId>>> asked_all;
  const dag::Life next{{2}, {1}};
  HearsOfOutcomes around;
  OneNode node({self, {self, peer, next}}, {.process = around});
  dag::message::JobState state;
  state.job = id;
  state.version = 1;
  state.lives = {self, peer, next};
  state.homes = {{self, {1, 1}}};
  state.cell = peer;
  state.term = 1;
  node.hears({state, state});
  state.version = 2;
  state.cell = next;
  state.term = 2;
  node.hears({state, state});
  node.tell(dag::mail::Probe{[&] { asked_all.set_value(around.asked); }});
  auto first_two = asked_all.get_future();
  REQUIRE(first_two.wait_for(dag::test::patient(20s)) == std::future_status::ready);
  CHECK(first_two.get() == std::vector<std::pair<dag::Life, dag::JobId>>{{peer, id}, {next, id}});
  node.hears({dag::message::JobCreate{plan_of_one_task()}});
  CHECK(around.in_time());
}

TEST_CASE("the record of a job that is over is news to nobody") {
  dag::NodeSetup setup{self, {self}};
  setup.forgotten.insert(id.value);
  Around around;
  OneNode node(std::move(setup), {.process = around});
  std::promise<void> goes_on;
  node.tell(dag::mail::RecordHere{plan_of_one_task()});
  node.tell(dag::mail::Probe{[&] { goes_on.set_value(); }});
  CHECK(goes_on.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready);
}

TEST_CASE("a save that is too large for the way to other disks is said, once for its job") {
  struct Replicas final : Around, dag::JobListener, dag::ReplicaTransport {
    std::promise<std::size_t> sent;
    bool has_sent = false;
    std::vector<std::string> said;

    void log(std::string_view line) override { said.emplace_back(line); }
    using Around::send;
    void send(dag::Life, dag::consensus::Addressed) override {}
    void send(dag::Life, dag::keeper::SaveCopy copy) override {
      if (!std::exchange(has_sent, true)) sent.set_value(copy.save.bytes.size_bytes());
    }
    void settled(dag::JobId, std::uint32_t, dag::Outcome, dag::Blob, std::optional<dag::Error>) override {}
    void ended(dag::JobId, std::optional<dag::Error>, const dag::CellCounts&) override {}
    void lost(dag::JobId, dag::Error) override {}
  };
  const dag::Life third{{2}, {1}};
  dag::NodeSetup setup{self, {self, peer, third}};
  setup.records.seat = {self.process, 1};
  setup.records.codes = &dag::wire::CodeMap::of_this_process();
  setup.records.save_bytes_max = 8;
  Replicas around;
  OneNode node(std::move(setup), {.process = around, .listener = &around, .replicas = &around});
  dag::mail::Seats seats;
  for (const dag::Life life : {self, peer, third}) seats.alive.push_back({{life.process, 1}, 1});
  node.tell(std::move(seats));
  node.tell(dag::mail::Record{plan_of_one_task(), dag::bytes_of(dag::Submission{})});
  const auto save = [](const std::string& state) {
    dag::mail::SaveHere here{{id, "train", "stage 0", {}}};
    here.copy.save.bytes = dag::Blob(std::as_bytes(std::span(state)));
    return here;
  };
  for (int n = 0; n < 3; ++n) node.tell(save("nine byte"));
  node.tell(save("eight by"));
  auto size = around.sent.get_future();
  REQUIRE(size.wait_for(dag::test::patient(20s)) == std::future_status::ready);
  CHECK(size.get() == 8);
  REQUIRE(around.said.size() == 1);
  CHECK_THAT(around.said[0], Catch::Contains("a save of job7 train, stage 0, has 9 bytes"));
}

// The actor may be held up by a home that counts millions of rows again, while other processes restart those
// tasks.
TEST_CASE("the node ends a process whose lease is over, whatever its JobHereActor is at") {
  using dag::mail::EndsBy, dag::mail::LeaseOver;
  struct Ends final : Around {
    std::promise<void> ends;
    bool ended = false;

    void end_now(std::string_view) override {
      if (!std::exchange(ended, true)) ends.set_value();
    }
  };
  std::promise<bool> looked;
  Ends around;
  OneNode node({self, {self, peer}}, {.process = around});
  node.hears({dag::message::JobCreate{plan_of_one_task()}});
  const dag::Instant now = dag::steady_now();
  node.tell(EndsBy{id, now + 1h});
  node.tell(EndsBy{id, now + 2h});
  node.tell(LeaseOver{id, now + 1h});  // Renewed.
  node.tell(EndsBy{id, std::nullopt});
  node.tell(LeaseOver{id, now + 2h});  // Nothing runs under it any more.
  node.tell(dag::mail::Probe{[&] { looked.set_value(around.ended); }});
  node.tell(EndsBy{id, now});
  CHECK_FALSE(looked.get_future().get());
  CHECK(around.ends.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready);
}
