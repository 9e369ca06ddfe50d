// What a transport carries to a process that is taken for dead, and says of one that comes and goes.
#include "nodes/transport/transport.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

using namespace dag;

namespace {

constexpr ClusterId cluster{7};

/// A process with a transport, and what membership of it was told last.
class Process {
 public:
  explicit Process(Life self, const std::string& listen = "127.0.0.1:0") : self_(self) {
    TransportSetup setup;
    setup.self = self;
    setup.sockets.listen = net::parse_address(listen).value_or_throw();
    setup.cluster = cluster;
    TransportEvents events;
    events.membership = [this](Life, MembershipMessage message) {
      const std::lock_guard lock(mutex_);
      heard_.push_back(std::move(message));
      changed_.notify_all();
    };
    events.arrived = [](Life, const std::vector<JobMessage>&, const std::function<void()>& handled) {
      handled();
    };
    events.disconnected = events.refused = [this](Life life) {
      const std::lock_guard lock(mutex_);
      lost_.push_back(life);
      changed_.notify_all();
    };
    events.unwelcome = [](const std::string&, const Error&) {};
    events.turned_away = [](const Caller&, const Error&) {};
    events.log = [](std::string_view) {};
    transport = std::move(Transport::open(std::move(setup), std::move(events))).value_or_throw();
  }
  Claim claim() const { return {self_, MemberState::alive, 1, transport->endpoint(), {}}; }
  const std::string& address() const { return transport->endpoint().control; }
  template <class Message>
  void hears() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !heard_.empty() && std::holds_alternative<Message>(heard_.back()); });
  }
  /// Whether the connection to it breaks, or nobody listens where it did: so often.
  bool loses(Life life, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return std::count(lost_.begin(), lost_.end(), life) >= times; });
  }
  std::unique_ptr<Transport> transport;

 private:
  const Life self_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<MembershipMessage> heard_;
  std::vector<Life> lost_;
};

}  // namespace

TEST_CASE(
    "who was taken for dead and only out of reach is told, over the connection that stood all the time") {
  const Life one_life{ProcessId{1}, {5}}, other_life{ProcessId{2}, {5}};
  Process one(one_life), other(other_life);
  // As seeds of each other.
  one.transport->send(
      SendMembership{other.address(), std::nullopt, membership::Join{other.address(), {one.claim()}}});
  other.hears<membership::Join>();
  one.transport->member_up(other_life, other.transport->endpoint());
  one.transport->member_down(other_life);
  one.transport->send(
      SendMembership{other.address(), other_life, membership::Obituary{other.claim(), 3, {one.claim()}}});
  other.hears<membership::Obituary>();
}

TEST_CASE("who comes back where it was, and dies before we are connected again, is missed") {
  const Life one_life{ProcessId{1}, {5}}, first_life{ProcessId{2}, {5}}, second_life{ProcessId{2}, {6}};
  Process one(one_life);
  std::string address;
  {
    Process first(first_life);
    address = first.address();
    one.transport->send(SendMembership{address, std::nullopt, membership::Join{address, {one.claim()}}});
    first.hears<membership::Join>();
    one.transport->member_up(first_life, first.transport->endpoint());
  }
  REQUIRE(one.loses(first_life, 9));  // Its tries to connect are half a second apart now.
  one.transport->member_down(first_life);
  {
    Process second(second_life, address);
    second.transport->send(
        SendMembership{one.address(), std::nullopt, membership::Join{one.address(), {second.claim()}}});
    one.hears<membership::Join>();
    one.transport->member_up(second_life, second.transport->endpoint());
  }
  CHECK(one.loses(second_life));
}
