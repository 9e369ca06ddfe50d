// Real sockets on loopback, ports chosen by the system. Every wait is for a condition and has an end.
#include "libdag/net/zmq_transport.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "libdag/wire/lengths.hpp"
#include "tests/support/patience.hpp"

using namespace dag;
using namespace dag::net;
using Clock = std::chrono::steady_clock;

namespace {

const auto patience =
    dag::test::patient(std::chrono::seconds(20));  // For machines that are busy, not for us.
constexpr auto moment = std::chrono::milliseconds(5);

std::unique_ptr<ZmqTransport> open(TransportOptions options = {}) {
  auto transport = ZmqTransport::open(options);
  if (!transport) FAIL(transport.error().message());
  return std::move(transport).value();
}

Blob blob(std::string_view text) { return Blob(std::as_bytes(std::span(text))); }
std::string text(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.bytes().data()), blob.size_bytes()};
}

/// Polls until an event of this kind comes; events of others are kept for later.
class Watched {
 public:
  explicit Watched(ZmqTransport& transport) : transport_(transport) {}
  template <class Kind>
  Kind next() {
    const auto end = Clock::now() + patience;
    while (Clock::now() < end) {
      const auto found = std::find_if(events_.begin(), events_.end(),
                                      [](const auto& event) { return std::holds_alternative<Kind>(event); });
      if (found != events_.end()) {
        Kind kind = std::get<Kind>(std::move(*found));
        events_.erase(found);
        return kind;
      }
      for (auto& event : transport_.poll(moment)) events_.push_back(std::move(event));
    }
    FAIL("the event did not come");
    throw std::logic_error("unreachable");
  }
  void take() {
    for (auto& event : transport_.poll({})) events_.push_back(std::move(event));
  }

 private:
  ZmqTransport& transport_;
  std::vector<TransportEvent> events_;
};

/// Two processes' worth of sockets, connected from a to b.
struct Pair {
  std::unique_ptr<ZmqTransport> a = open(), b = open();
  Watched at_a{*a}, at_b{*b};
  PeerHandle peer = *a->connect(b->control_address(), &b->bulk_address());
  Pair() { at_a.next<PeerConnected>(); }
};

void send_when_possible(ZmqTransport& transport, PeerHandle peer, Channel channel, Blob frame) {
  const auto end = Clock::now() + patience;
  while (Clock::now() < end) {
    const Sent sent = transport.send(peer, channel, frame);
    if (sent == Sent::sent) return;
    REQUIRE(sent == Sent::busy);
    static_cast<void>(transport.poll(moment));
  }
  FAIL("the peer stayed busy");
}

}  // namespace

TEST_CASE("frames of every size arrive whole, in order and aligned, on both channels") {
  Pair pair;
  const std::size_t sizes[] = {0, 1, 7, 8, 33, 1000, 8191, 8192, 65'537, limits::control_frame_bytes_max};
  for (const Channel channel : {Channel::control, Channel::bulk}) {
    for (const std::size_t size : sizes) {
      const std::string sent(size, static_cast<char>('a' + size % 26));
      send_when_possible(*pair.a, pair.peer, channel, blob(sent));
      const auto frame = pair.at_b.next<FrameArrived>();
      CHECK(frame.channel == channel);
      CHECK(text(frame.bytes) == sent);
      CHECK(reinterpret_cast<std::uintptr_t>(frame.bytes.bytes().data()) % 8 == 0);
    }
  }
}

TEST_CASE("a caller is answered on its own connection") {
  Pair pair;
  REQUIRE(pair.a->send(pair.peer, Channel::control, blob("hello")) == Sent::sent);
  const auto question = pair.at_b.next<FrameArrived>();
  const CallerHandle caller = std::get<CallerHandle>(question.from);
  REQUIRE(pair.b->answer(caller, Channel::control, blob("welcome")) == Sent::sent);
  const auto answer = pair.at_a.next<FrameArrived>();
  CHECK(std::get<PeerHandle>(answer.from) == pair.peer);
  CHECK(text(answer.bytes) == "welcome");

  CHECK(pair.b->answer(CallerHandle{"nobody"}, Channel::control, blob("x")) == Sent::gone);
  pair.a->disconnect(pair.peer);
  CHECK(pair.a->send(pair.peer, Channel::control, blob("x")) == Sent::gone);
  const auto end = Clock::now() + patience;
  while (pair.b->answer(caller, Channel::control, blob("x")) != Sent::gone) {
    REQUIRE(Clock::now() < end);
    pair.at_b.take();
  }
}

TEST_CASE("the death of a peer is seen at once, and its return") {
  auto a = open();
  Watched at_a(*a);
  auto b = open();
  const TransportOptions same_port{b->control_address(), 0};
  const PeerHandle peer = *a->connect(b->control_address());
  CHECK(at_a.next<PeerConnected>().peer == peer);

  b.reset();
  CHECK(at_a.next<PeerDisconnected>().peer == peer);
  CHECK(at_a.next<PeerRefused>().peer == peer);
  CHECK(a->send(peer, Channel::control, blob("lost")) == Sent::busy);

  b = open(same_port);
  Watched at_b(*b);
  CHECK(at_a.next<PeerConnected>().peer == peer);
  send_when_possible(*a, peer, Channel::control, blob("again"));
  CHECK(text(at_b.next<FrameArrived>().bytes) == "again");
}

TEST_CASE("nobody at the address: refused, and then somebody") {
  auto a = open();
  Watched at_a(*a);
  Address address;
  {
    auto gone = open();
    address = gone->control_address();
  }
  const PeerHandle peer = *a->connect(address);
  CHECK(a->send(peer, Channel::control, blob("x")) == Sent::busy);
  CHECK(at_a.next<PeerRefused>().peer == peer);
  auto b = open({address, 0});
  CHECK(at_a.next<PeerConnected>().peer == peer);
}

TEST_CASE("a receiver that takes nothing makes the sender busy, costs bounded memory, and loses nothing") {
  Pair pair;
  const Blob frame = blob(std::string(100'000, 'x'));
  int sent = 0;
  // Frames that fit between the two: our queue, theirs, and buffers of the system for a connection.
  while (pair.a->send(pair.peer, Channel::control, frame) == Sent::sent) REQUIRE(++sent < 2000);
  for (int taken = 0; taken < sent; ++taken)
    CHECK(pair.at_b.next<FrameArrived>().bytes.size_bytes() == 100'000);
  send_when_possible(*pair.a, pair.peer, Channel::control, blob("after"));
  CHECK(text(pair.at_b.next<FrameArrived>().bytes) == "after");
}

TEST_CASE("bulk goes only where a bulk address is known") {
  auto a = open(), b = open();
  Watched at_a(*a), at_b(*b);
  const PeerHandle peer = *a->connect(b->control_address());
  at_a.next<PeerConnected>();
  CHECK(a->send(peer, Channel::bulk, blob("x")) == Sent::gone);
  REQUIRE(a->set_bulk_address(peer, b->bulk_address()));
  send_when_possible(*a, peer, Channel::bulk, blob("big"));
  const auto frame = at_b.next<FrameArrived>();
  CHECK(frame.channel == Channel::bulk);
}

TEST_CASE("bulk goes to the process that listens now, not to the one before it") {
  auto a = open(), b = open(), successor = open();
  Watched at_a(*a), at_b(*b), at_successor(*successor);
  const PeerHandle peer = *a->connect(b->control_address());
  at_a.next<PeerConnected>();
  REQUIRE(a->set_bulk_address(peer, b->bulk_address()));
  send_when_possible(*a, peer, Channel::bulk, blob("to b"));
  CHECK(text(at_b.next<FrameArrived>().bytes) == "to b");
  REQUIRE(a->set_bulk_address(peer, successor->bulk_address()));
  send_when_possible(*a, peer, Channel::bulk, blob("to its successor"));
  CHECK(text(at_successor.next<FrameArrived>().bytes) == "to its successor");
}

TEST_CASE("a taken port is named") {
  auto a = open();
  const auto second = ZmqTransport::open({a->control_address(), 0});
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::address_in_use);
  CHECK_THAT(second.error().what, Catch::Contains(std::to_string(a->control_address().port)));
  CHECK_FALSE(second.error().hint.empty());
  const auto bulk = ZmqTransport::open({{"127.0.0.1", 0}, a->bulk_address().port});
  REQUIRE_FALSE(bulk);
  CHECK(bulk.error().code == ErrorCode::address_in_use);
}

TEST_CASE("addresses that cannot be used are refused") {
  const auto beyond = ZmqTransport::open({{"0.0.0.0", 0}});
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().code == ErrorCode::configuration_invalid);
  TransportOptions meant{{"0.0.0.0", 0}};
  meant.beyond_loopback = true;
  CHECK(ZmqTransport::open(meant));
  TransportOptions foreign{{"192.0.2.1", 0}};  // Reserved for documentation: nobody's.
  foreign.beyond_loopback = true;
  const auto nowhere = ZmqTransport::open(foreign);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().code == ErrorCode::address_invalid);
  CHECK_FALSE(open()->connect({"127.0.0.1", 0}));
}

TEST_CASE("localhost and IPv6 work like any other") {
  auto a = open({{"localhost", 0}});
  CHECK(a->control_address().host == "127.0.0.1");
  auto v6 = ZmqTransport::open({{"::1", 0}});
  if (!v6) return;  // A machine without IPv6.
  Watched at_a(*a);
  REQUIRE(a->connect((*v6)->control_address()));
  at_a.next<PeerConnected>();
}

TEST_CASE("what is not a frame of ours is dropped and the connection of a stranger costs nothing") {
  auto b = open();
  Watched at_b(*b);
  const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(stranger >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(b->control_address().port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const std::string_view noise =
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n and a good deal more than any greeting needs\r\n";
  REQUIRE(::write(stranger, noise.data(), noise.size()) > 0);
  auto a = open();
  const PeerHandle peer = *a->connect(b->control_address());
  send_when_possible(*a, peer, Channel::control, blob("ours"));
  CHECK(text(at_b.next<FrameArrived>().bytes) == "ours");
  ::close(stranger);
}

TEST_CASE("another thread can wake a poll, before it and during it") {
  auto a = open();
  a->wake();
  const auto begin = Clock::now();
  CHECK(a->poll(patience).empty());
  std::thread other([&a] { a->wake(); });
  CHECK(a->poll(patience).empty());
  other.join();
  CHECK(Clock::now() - begin < patience);
}

TEST_CASE("sockets stay on their thread") {
  auto a = open();
  bool refused = false;
  std::thread other([&] {
    try {
      static_cast<void>(a->poll({}));
    } catch (const Bug&) {
      refused = true;
    }
  });
  other.join();
  CHECK(refused);
}

TEST_CASE("many peers come and go without leaving anything behind") {
  auto hub = open();
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<ZmqTransport>> others;
    std::vector<PeerHandle> peers;
    Watched at_hub(*hub);
    for (int i = 0; i < 10; ++i) {
      others.push_back(open());
      peers.push_back(*hub->connect(others.back()->control_address(), &others.back()->bulk_address()));
    }
    for (std::size_t i = 0; i < peers.size(); ++i) at_hub.next<PeerConnected>();
    for (std::size_t i = 0; i < peers.size(); ++i) {
      send_when_possible(*hub, peers[i], Channel::control, blob(std::to_string(i)));
      CHECK(text(Watched(*others[i]).next<FrameArrived>().bytes) == std::to_string(i));
    }
    for (const PeerHandle peer : peers) hub->disconnect(peer);
  }
}
