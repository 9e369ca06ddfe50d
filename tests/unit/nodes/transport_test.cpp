// What a transport carries to a process that is taken for dead.
#include "nodes/transport/transport.hpp"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

using namespace dag;

namespace {

constexpr ClusterId cluster{7};

/// A process with a transport, and what membership of it was told last.
class Process {
 public:
  explicit Process(Life self) : self_(self) {
    TransportSetup setup;
    setup.self = self;
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
    events.disconnected = events.refused = [](Life) {};
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
  std::unique_ptr<Transport> transport;

 private:
  const Life self_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<MembershipMessage> heard_;
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
