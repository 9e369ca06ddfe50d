// Connections of strangers to the port of a running process: none of them disturbs the job.

#include <catch2/catch.hpp>

#include "libdag/base/random.hpp"
#include "libdag/net/zmq_transport.hpp"
#include "libdag/wire/envelope.hpp"
#include "tests/cluster/nodes.hpp"
#include "tests/support/samples.hpp"

using cluster::bin;
using cluster::place;
using cluster::Process;
using cluster::result_in;
using namespace dag;

namespace {

/// The one that place() names.
constexpr ClusterId here{0xc0ffee};

std::string embedded_result() {
  static const std::string result = [] {
    Process alone({bin("cluster_mixture"), "90", "3000"});
    CHECK(alone.ends() == 0);
    return result_in(alone.out());
  }();
  return result;
}

/// A run of two processes, with a port for strangers.
struct Run {
  std::string first = cluster::free_address();
  std::vector<std::string> job{bin("cluster_mixture"), "90", "3000"};
  Process zero{job, place(0, 2, first)}, one{job, place(1, 2, first)};
  Run() { REQUIRE(zero.says("quarter")); }
  void check_undisturbed() {
    CHECK(zero.ends() == 0);
    INFO(zero.err());
    CHECK(result_in(zero.out()) == embedded_result());
    CHECK(one.ends() == 0);
  }
};

/// A plain connection, without ZeroMQ.
int connect_to(const std::string& where) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(where.substr(where.find(':') + 1))));
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return connection;
}

/// A process that speaks frames and nothing else.
class Stranger {
 public:
  explicit Stranger(const std::string& address)
      : sockets_(net::ZmqTransport::open({}).value_or_throw()),
        peer_(*sockets_->connect(*net::parse_address(address))) {}

  /// False: it could not be sent within the patience.
  bool says(const Blob& frame) {
    const auto until = cluster::Clock::now() + cluster::patient(dag::test::for_processes);
    while (sockets_->send(peer_, net::Channel::control, frame) != net::Sent::sent) {
      if (cluster::Clock::now() > until) return false;
      take();
    }
    return true;
  }
  /// The next handshake that is said to it; empty when none comes.
  std::optional<wire::Handshake> hears() {
    const auto until = cluster::Clock::now() + cluster::patient(dag::test::for_processes);
    while (heard_.empty() && cluster::Clock::now() < until) take();
    if (heard_.empty()) return std::nullopt;
    wire::Handshake first = std::move(heard_.front());
    heard_.erase(heard_.begin());
    return first;
  }

 private:
  void take() {
    for (net::TransportEvent& event : sockets_->poll(std::chrono::milliseconds(5))) {
      const auto* frame = std::get_if<net::FrameArrived>(&event);
      if (frame == nullptr) continue;
      const auto envelope = wire::decode(frame->bytes.bytes());
      if (!envelope || envelope->operations.empty()) continue;
      if (const auto* said = std::get_if<wire::Handshake>(&envelope->operations.front()))
        heard_.push_back(*said);
    }
  }

  std::unique_ptr<net::ZmqTransport> sockets_;
  net::PeerHandle peer_;
  std::vector<wire::Handshake> heard_;
};

Blob frame_of(wire::Operation operation, ClusterId cluster, Life from) {
  link::FrameHeader header;
  header.cluster = cluster;
  header.from = from;
  return *wire::encode(link::versions_spoken.max, header, {&operation, 1});
}

Blob hello(link::VersionRange versions, ClusterId cluster, Life from) {
  link::Hello hello{cluster, versions, from, "", "127.0.0.1:1", "127.0.0.1:2"};
  return frame_of(wire::Handshake{hello}, cluster, from);
}

}  // namespace

TEST_CASE("a peer of another version of the protocol is told so, and the run goes on without it") {
  Run run;
  Stranger stranger(run.first);
  // Even one that takes itself for process 1, which is here.
  const Life from = GENERATE(Life{{1}, {1}}, Life{{7}, {1}});
  REQUIRE(stranger.says(hello({99, 99}, here, from)));
  const auto answer = stranger.hears();
  REQUIRE(answer);
  const auto* refused = std::get_if<link::HelloRefused>(&*answer);
  REQUIRE(refused != nullptr);
  CHECK(link::error_of(*refused).code == ErrorCode::peer_version);
  CHECK_THAT(refused->what,
             Catch::Contains("speaks version 99 of the protocol") && Catch::Contains("version 1"));
  run.check_undisturbed();
  CHECK_THAT(run.zero.err(), Catch::Contains("was turned away") && Catch::Contains("version 99"));
}

TEST_CASE("a run whose process speaks another version of the protocol ends and says why") {
  const std::string first = cluster::free_address();
  Process zero({bin("cluster_mixture")}, place(0, 2, first));
  Stranger stranger(first);
  REQUIRE(stranger.says(hello({99, 99}, here, {{1}, {1}})));
  CHECK(stranger.hears());
  CHECK(zero.ends() != 0);
  CHECK_THAT(zero.err(), Catch::Contains("peer_version") && Catch::Contains("version 99"));
}

TEST_CASE("a process of another run is told whose port it found") {
  Run run;
  Stranger stranger(run.first);
  REQUIRE(stranger.says(hello(link::versions_spoken, {0xbad}, {{1}, {1}})));
  const auto answer = stranger.hears();
  REQUIRE(answer);
  const auto* refused = std::get_if<link::HelloRefused>(&*answer);
  REQUIRE(refused != nullptr);
  CHECK_THAT(refused->what, Catch::Contains("0000000000000bad") && Catch::Contains("0000000000c0ffee"));
  run.check_undisturbed();
}

TEST_CASE("greetings of ever more strangers crowd nobody out: the node welcomes whoever comes behind them") {
  cluster::Nodes nodes(2);
  nodes.gather();
  {
    Stranger stranger(nodes.address());
    for (std::uint32_t number = 1; number <= 5000; ++number) {
      const Life from{{(number << 16) | 0xFFFF}, {number}};
      REQUIRE(stranger.says(hello(link::versions_spoken, {0x7e57}, from)));
    }
    REQUIRE(stranger.hears());
  }
  Process job(cluster::at(nodes, {bin("hello")}));
  const auto ended = job.ends();
  INFO(job.err());
  CHECK(ended == 0);
}

TEST_CASE("frames that are corrupt, cut off or of nobody do not disturb the job") {
  Run run;
  Stranger stranger(run.first);
  Random random(41);
  std::vector<Blob> honest;
  for (const auto& sample : wire::samples::all()) {
    const auto frame = wire::encode(wire::samples::envelope_of({sample.operation}),
                                    limits::control_frame_bytes_max, wire::samples::codes());
    REQUIRE(frame);
    honest.push_back(*frame);
  }
  for (int round = 0; round < 20; ++round) {
    for (const Blob& whole : honest) {
      std::vector<std::byte> bytes(whole.bytes().begin(), whole.bytes().end());
      if (round % 2 == 0) {
        bytes.resize(random.below(bytes.size()));
      } else {
        for (int flips = 0; flips < 4; ++flips)
          bytes[random.below(bytes.size())] ^= std::byte{1} << random.below(8);
      }
      REQUIRE(stranger.says(Blob(bytes)));
    }
  }
  for (const Blob& whole : honest) REQUIRE(stranger.says(whole));  // From another cluster.
  run.check_undisturbed();
  CHECK_THAT(run.zero.err(), Catch::Contains("a frame was refused"));
}

TEST_CASE("a frame of a terabyte is not waited for: the connection is closed") {
  Run run;
  const int stranger = connect_to(run.first);
  // ZeroMQ's protocol begins so (ZMTP 3.0, 23/ZMTP): greeting, READY; then the head of a long message.
  std::string words("\xFF\0\0\0\0\0\0\0\0\x7F\x03\0NULL", 16);
  words.resize(64);
  words += std::string(
      "\x04\x1C\x05READY\x0BSocket-Type\0\0\0\x06"
      "DEALER",
      30);
  words += std::string("\x02\0\0\x01\0\0\0\0\0", 9) + std::string(100, 'x');
  REQUIRE(send(stranger, words.data(), words.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(words.size()));
  pollfd waits{stranger, POLLIN, 0};
  ssize_t got = 1;
  while (got > 0) {
    REQUIRE(poll(&waits, 1, dag::test::patient_ms(std::chrono::minutes(1))) == 1);
    char buffer[256];
    got = recv(stranger, buffer, sizeof buffer, 0);
  }
  close(stranger);
  run.check_undisturbed();
}

TEST_CASE("garbage at the port is refused and the job goes on") {
  Run run;
  for (int i = 0; i < 10; ++i) {
    const int stranger = connect_to(run.first);
    const std::string garbage(static_cast<std::size_t>(1000 * i + 1), static_cast<char>(i * 37));
    CHECK(send(stranger, garbage.data(), garbage.size(), MSG_NOSIGNAL) > 0);
    close(stranger);
  }
  run.check_undisturbed();
}
