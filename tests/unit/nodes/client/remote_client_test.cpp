// A client whose job goes on at another node: against nodes that only speak, over real sockets.
#include "nodes/client/remote_client.hpp"

#include <catch2/catch.hpp>
#include <future>

#include "tests/support/patience.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

constexpr ClusterId cluster{77};
/// Generous: two cores may be shared with a compiler.
const auto patience = dag::test::patient(60s);

/// Shared by the nodes of a test: the list of nodes.
struct Others {
  std::mutex mutex;
  std::vector<NodeInfo> nodes;
};

/// Answers clients as it is told to, and remembers what they said.
class SpokenNode {
 public:
  enum class Role { leads, elsewhere, unknown };

  SpokenNode(std::uint32_t id, Others& others) : others_(others) {
    TransportSetup setup;
    setup.self = {ProcessId{id}, {1}};
    setup.cluster = cluster;
    setup.sockets.listen = {"127.0.0.1", 0};
    transport_ = Transport::open(std::move(setup), std::make_unique<Events>(*this)).value_or_throw();
    transport_->begin();
    NodeInfo info;
    info.life = {ProcessId{id}, {1}};
    info.endpoint = transport_->endpoint();
    const std::lock_guard lock(others_.mutex);
    others_.nodes.push_back(info);
  }
  SpokenNode(const SpokenNode&) = delete;
  SpokenNode& operator=(const SpokenNode&) = delete;

  std::string address() const { return transport_->endpoint().control; }
  void is(Role role, std::string leader = "") {
    const std::lock_guard lock(mutex_);
    role_ = role;
    leader_ = std::move(leader);
  }
  void accepts_nothing() {
    const std::lock_guard lock(mutex_);
    accepts_ = false;
  }
  void tell(ClientMessage message) {
    const std::lock_guard lock(mutex_);
    transport_->send(client_, std::move(message));
  }
  /// Until a client has said so many of these.
  template <class Message>
  bool hears(std::size_t count = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return all<Message>().size() >= count; });
  }
  template <class Message>
  std::vector<Message> heard() {
    const std::lock_guard lock(mutex_);
    return all<Message>();
  }

 private:
  class Events final : public TransportEvents {
   public:
    explicit Events(SpokenNode& node) : node_(node) {}
    void client(Life from, ClientMessage message) override { node_.said(from, message); }

   private:
    SpokenNode& node_;
  };

  template <class Message>
  std::vector<Message> all() const {
    std::vector<Message> found;
    for (const ClientMessage& one : said_) {
      if (const auto* message = std::get_if<Message>(&one)) found.push_back(*message);
    }
    return found;
  }

  void said(Life from, const ClientMessage& message) {
    const std::lock_guard lock(mutex_);
    said_.push_back(message);
    client_ = from;
    changed_.notify_all();
    std::visit(
        [&](const auto& one) {
          using Message = std::remove_cvref_t<decltype(one)>;
          if constexpr (requires { one.number; } && !std::is_same_v<Message, client::Answer>) {
            client::Answer answer;
            answer.number = one.number;
            if constexpr (std::is_same_v<Message, client::AskHandle>) {
              answer.job = JobId{++jobs_};
            } else if constexpr (std::is_same_v<Message, client::AskNodes>) {
              const std::lock_guard lock_of_others(others_.mutex);
              answer.nodes = others_.nodes;
              std::stable_partition(answer.nodes.begin(), answer.nodes.end(),
                                    [&](const NodeInfo& node) { return node.endpoint.control == address(); });
            } else if constexpr (std::is_same_v<Message, client::AskSubmit>) {
              if (!accepts_) return;
              answer.job = one.job;
            } else if (role_ == Role::elsewhere) {
              answer.error = Error{ErrorCode::job_elsewhere, "not here"};
              answer.elsewhere = leader_;
            } else if (role_ == Role::unknown) {
              answer.error = Error{ErrorCode::job_unknown, "never heard of it"};
            }
            transport_->send(from, std::move(answer));
          }
        },
        message);
  }

  Others& others_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Role role_ = Role::leads;
  std::string leader_;
  bool accepts_ = true;
  std::uint64_t jobs_ = 0;
  Life client_;
  std::vector<ClientMessage> said_;
  std::unique_ptr<Transport> transport_;  // Last: its thread uses the rest.
};

using Role = SpokenNode::Role;

struct World {
  Others others;
  std::unique_ptr<SpokenNode> a = std::make_unique<SpokenNode>(0, others);
  SpokenNode b{1, others}, c{2, others};
  NodeOptions options;
  std::unique_ptr<RemoteClient> client;

  World() {
    options.address = a->address();
    client = std::make_unique<RemoteClient>(options);
  }
  std::shared_ptr<detail::JobState> job() {
    auto state = std::make_shared<detail::JobState>();
    state->client = client.get();
    return state;
  }
  std::shared_ptr<detail::JobState> submitted() {
    auto state = job();
    REQUIRE(client->submit(std::make_shared<detail::Fragment>(), state));
    return state;
  }
};

client::TaskSettled settled(JobId job, std::uint32_t task) {
  return {job, task, Outcome::finished, {}, std::nullopt};
}

}  // namespace

TEST_CASE("a job whose node dies goes on at the one that leads it now, and later jobs at one that is left") {
  World world;
  const auto job = world.submitted();
  world.client->want(job->id, 5);
  world.client->want(job->id, 6);
  REQUIRE(world.a->hears<client::Want>(2));
  world.a->tell(settled(job->id, 5));
  CHECK(job->wait_for(5)->outcome == Outcome::finished);  // News that came by a is here, too.
  world.b.is(Role::elsewhere, world.c.address());
  world.a.reset();
  REQUIRE(world.c.hears<client::AskFollow>());
  const client::AskFollow follow = world.c.heard<client::AskFollow>().front();
  CHECK(follow.job == job->id);
  CHECK(follow.tasks == std::vector<std::uint32_t>{6});
  world.c.tell(settled(job->id, 5));  // News may come again.
  world.c.tell(settled(job->id, 6));
  CHECK(job->wait_for(6)->outcome == Outcome::finished);
  for (int times = 0; times < 2; ++times)
    world.c.tell(client::JobEnded{job->id, std::nullopt, {0, 2, 0, 0, 0}});
  CHECK(job->wait_for_end(patience) == true);
  const auto next = world.submitted();
  CHECK(world.b.heard<client::AskSubmit>().size() + world.c.heard<client::AskSubmit>().size() == 1);
}

TEST_CASE("a job that has moved is followed, and cancelled where it is led now") {
  World world;
  const auto job = world.submitted();
  world.a->is(Role::elsewhere, world.c.address());
  world.b.is(Role::unknown);
  SECTION("its node says so") {
    world.a->tell(client::JobMoved{job->id});
    REQUIRE(world.c.hears<client::AskFollow>());
  }
  SECTION("it says so when it is to cancel") {}
  world.client->cancel(job->id);
  CHECK(world.c.heard<client::AskFollow>().size() == 1);
  CHECK(world.c.heard<client::AskCancel>().size() == 1);
  world.client->want(job->id, 3);
  CHECK(world.c.hears<client::Want>());
  CHECK(world.a->heard<client::Want>().empty());
}

TEST_CASE("a submission under way when its node dies is accepted if another node knows the job") {
  World world;
  REQUIRE(world.a->hears<client::AskNodes>());
  world.a->accepts_nothing();
  const auto job = world.job();
  auto submission = std::async(
      std::launch::async, [&] { return world.client->submit(std::make_shared<detail::Fragment>(), job); });
  REQUIRE(world.a->hears<client::AskSubmit>());
  SECTION("it does") {
    world.a.reset();
    CHECK(submission.get());
    CHECK(world.b.heard<client::AskFollow>().size() == 1);
  }
  SECTION("none does") {
    world.b.is(Role::unknown);
    world.c.is(Role::unknown);
    world.a.reset();
    const Status status = submission.get();
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::cluster_lost);
    CHECK(status.error().cause == "never heard of it");
    CHECK(job->id == JobId{});
  }
}

TEST_CASE("the only node of a cluster is lost: so is its job, when it does not come back in time") {
  Others others;
  auto only = std::make_unique<SpokenNode>(0, others);
  NodeOptions options;
  options.address = only->address();
  detail::SearchLimits limits;
  limits.silent = std::chrono::milliseconds(200);
  RemoteClient client(options, limits);
  const auto job = std::make_shared<detail::JobState>();
  job->client = &client;
  REQUIRE(client.submit(std::make_shared<detail::Fragment>(), job));
  only.reset();
  CHECK_THROWS_WITH(job->wait_for_end(patience),
                    Catch::Contains("cluster_lost") && Catch::Contains("is gone"));
  CHECK_THROWS_WITH(client.cancel(job->id), Catch::Contains("cluster_lost"));
  job->client = nullptr;
}
