// A node and messages: of a job before it is known, of one that is over, and saves for other nodes.

#include <catch2/catch.hpp>

#include <dag/dag.hpp>

#include <future>

#include "actors/node_actor.hpp"
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

/// A node in a process of its own; what it sends to others goes to `sent`.
class OneNode {
 public:
  explicit OneNode(
      dag::NodeSetup setup, std::function<void(dag::Life, const dag::JobMessage&)> sent = {},
      std::function<void(std::string_view)> log = [](std::string_view) {},
      std::function<void(std::string_view)> end_now = {})
      : system_(config_), lanes_({.cores = {-1}, .spin = dag::Duration{0}}, {}) {
    dag::Ports ports;
    ports.now = dag::steady_now;
    ports.send = [sent](dag::Life to, const dag::JobMessage& message) {
      if (sent) sent(to, message);
    };
    ports.log = std::move(log);
    ports.end_now = std::move(end_now);
    actor_ = system_.spawn<dag::NodeActor>(std::move(setup), lanes_, std::move(ports), records_);
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
  std::promise<void> settles;
  OneNode node({self, {self, peer}, {}}, [&](dag::Life, const dag::JobMessage& message) {
    const auto* outcomes = std::get_if<dag::message::Outcomes>(&message);
    if (outcomes != nullptr && outcomes->number == 1) settles.set_value();
  });
  for (int n = 0; n < 10'000; ++n) node.hears({dag::message::StealRequest{{99}, 1}});
  dag::message::JobState state;
  state.job = id;
  state.version = 1;
  state.lives = {self, peer};
  state.homes = {{self, {1, 1}}};
  state.cell = peer;
  node.hears({state});
  node.hears({dag::message::JobCreate{plan_of_one_task()}});
  CHECK(settles.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready);
}

TEST_CASE("a process that hears of a job asks its leader what it is, and the next one when that one fell") {
  std::promise<void> settles;
  std::promise<std::vector<std::pair<dag::Life, dag::JobId>>> asked_all;
  std::vector<std::pair<dag::Life, dag::JobId>> asked;
  const dag::Life next{{2}, {1}};
  OneNode node({self, {self, peer, next}, {}}, [&](dag::Life to, const dag::JobMessage& message) {
    if (const auto* ask = std::get_if<dag::message::AskPlan>(&message)) asked.emplace_back(to, ask->job);
    const auto* outcomes = std::get_if<dag::message::Outcomes>(&message);
    if (outcomes != nullptr && outcomes->number == 1) settles.set_value();
  });
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
  node.tell(dag::mail::Probe{[&] { asked_all.set_value(asked); }});
  auto first_two = asked_all.get_future();
  REQUIRE(first_two.wait_for(dag::test::patient(20s)) == std::future_status::ready);
  CHECK(first_two.get() == std::vector<std::pair<dag::Life, dag::JobId>>{{peer, id}, {next, id}});
  node.hears({dag::message::JobCreate{plan_of_one_task()}});
  CHECK(settles.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready);
}

TEST_CASE("the record of a job that is over is news to nobody") {
  dag::NodeSetup setup{self, {self}, {}};
  setup.forgotten.insert(id.value);
  OneNode node(std::move(setup));
  std::promise<void> goes_on;
  node.tell(dag::mail::RecordHere{plan_of_one_task()});
  node.tell(dag::mail::Probe{[&] { goes_on.set_value(); }});
  CHECK(goes_on.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready);
}

TEST_CASE("a save that is too large for the way to other disks is said, once for its job") {
  std::promise<std::size_t> sent;
  std::vector<std::string> said;
  const dag::Life third{{2}, {1}};
  dag::NodeSetup setup{self, {self, peer, third}, {}};
  dag::RecordPorts& records = setup.records.emplace();
  records.seat = {self.process, 1};
  records.codes = &dag::wire::CodeMap::of_this_process();
  records.send = [](dag::Life, const dag::consensus::Addressed&) {};
  records.follower = [](dag::JobId) { return dag::Follower{}; };
  records.save_bytes_max = 8;
  records.send_save = [&, done = false](dag::Life, const dag::keeper::SaveCopy& copy) mutable {
    if (!std::exchange(done, true)) sent.set_value(copy.save.bytes.size_bytes());
  };
  OneNode node(std::move(setup), {}, [&](std::string_view line) { said.emplace_back(line); });
  dag::mail::Seats seats;
  for (const dag::Life life : {self, peer, third}) seats.alive.push_back({{life.process, 1}, 1});
  node.tell(std::move(seats));
  node.tell(dag::mail::Record{plan_of_one_task(), {}});
  const auto save = [](const std::string& state) {
    dag::mail::SaveHere here{{id, "train", "stage 0", {}}};
    here.copy.save.bytes = dag::Blob(std::as_bytes(std::span(state)));
    return here;
  };
  for (int n = 0; n < 3; ++n) node.tell(save("nine byte"));
  node.tell(save("eight by"));
  auto size = sent.get_future();
  REQUIRE(size.wait_for(dag::test::patient(20s)) == std::future_status::ready);
  CHECK(size.get() == 8);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("a save of job7 train, stage 0, has 9 bytes"));
}

// The actor may be held up by a home that counts millions of rows again, while other processes restart those
// tasks.
TEST_CASE("the node ends a process whose lease is over, whatever its JobHereActor is at") {
  using dag::mail::EndsBy, dag::mail::LeaseOver;
  std::promise<bool> looked;
  std::promise<void> ends;
  bool ended = false;
  OneNode node(
      {self, {self, peer}, {}}, {}, [](std::string_view) {},
      [&](std::string_view) {
        if (!std::exchange(ended, true)) ends.set_value();
      });
  node.hears({dag::message::JobCreate{plan_of_one_task()}});
  const dag::Instant now = dag::steady_now();
  node.tell(EndsBy{id, now + 1h});
  node.tell(EndsBy{id, now + 2h});
  node.tell(LeaseOver{id, now + 1h});  // Renewed.
  node.tell(EndsBy{id, std::nullopt});
  node.tell(LeaseOver{id, now + 2h});  // Nothing runs under it any more.
  node.tell(dag::mail::Probe{[&] { looked.set_value(ended); }});
  node.tell(EndsBy{id, now});
  CHECK_FALSE(looked.get_future().get());
  CHECK(ends.get_future().wait_for(dag::test::patient(20s)) == std::future_status::ready);
}
