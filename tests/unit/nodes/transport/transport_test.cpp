// Transport to a process that is taken for dead, and its events for a process that comes and goes, or that
// sends frames that cannot be read.
#include "nodes/transport/transport.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

#include "libdag/wire/envelope.hpp"
#include "tests/support/patience.hpp"

using namespace dag;

namespace {

constexpr ClusterId cluster{7};

/// A process with a transport, and what membership of it was told last.
class Process {
 public:
  explicit Process(Life self, const std::string& listen = "127.0.0.1:0", bool begins = true) : self_(self) {
    TransportSetup setup;
    setup.self = self;
    setup.sockets.listen = net::parse_address(listen).value_or_throw();
    setup.cluster = cluster;
    transport =
        std::move(Transport::open(std::move(setup), std::make_unique<Events>(*this))).value_or_throw();
    if (begins) transport->begin();
  }
  Claim claim() const { return {self_, MemberState::alive, 1, transport->endpoint(), {}}; }
  const std::string& address() const { return transport->endpoint().control; }
  template <class Message>
  void hears() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !heard_.empty() && std::holds_alternative<Message>(heard_.back()); });
  }
  bool has_heard() {
    const std::lock_guard lock(mutex_);
    return !heard_.empty();
  }
  /// Whether the connection to it breaks, or nobody listens where it did: so often.
  bool loses(Life life, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, dag::test::patient(std::chrono::seconds(10)),
                             [&] { return std::count(lost_.begin(), lost_.end(), life) >= times; });
  }
  bool notes(const std::string& text) {
    return waits([&] { return std::count(notes_.begin(), notes_.end(), text) > 0; });
  }
  std::vector<std::string> log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::optional<Error> unwelcome() {
    waits([this] { return !unwelcome_.empty(); });
    const std::lock_guard lock(mutex_);
    return unwelcome_.empty() ? std::nullopt : std::optional(unwelcome_.front());
  }
  bool breaks(std::size_t times = 1) {
    return waits([this, times] { return broken_.size() >= times; });
  }
  std::vector<std::pair<Life, Error>> broken() {
    const std::lock_guard lock(mutex_);
    return broken_;
  }
  std::unique_ptr<Transport> transport;

 private:
  class Events final : public TransportEvents {
   public:
    explicit Events(Process& process) : process_(process) {}
    void membership(Life, MembershipMessage message) override {
      keep([&] { process_.heard_.push_back(std::move(message)); });
    }
    void disconnected(Life life) override {
      keep([&] { process_.lost_.push_back(life); });
    }
    void refused(Life life) override { disconnected(life); }
    void note(Life, wire::JobNote said) override {
      keep([&] { process_.notes_.push_back(std::move(said.text)); });
    }
    void log(std::string_view line) override {
      keep([&] { process_.log_.emplace_back(line); });
    }
    void broken(Life life, const Error& why) override {
      keep([&] { process_.broken_.emplace_back(life, why); });
    }
    void unwelcome(const std::string&, const Error& why) override {
      keep([&] { process_.unwelcome_.push_back(why); });
    }

   private:
    template <class Add>
    void keep(Add&& add) {
      const std::lock_guard lock(process_.mutex_);
      add();
      process_.changed_.notify_all();
    }
    Process& process_;
  };

  template <class Condition>
  bool waits(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, dag::test::patient(std::chrono::seconds(10)), condition);
  }

  const Life self_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<MembershipMessage> heard_;
  std::vector<Life> lost_;
  std::vector<std::string> notes_;
  std::vector<std::pair<Life, Error>> broken_;
  std::vector<Error> unwelcome_;
  std::vector<std::string> log_;
};

/// A process that says what we want it to, and has been welcomed.
class Speaker {
 public:
  Speaker(Life self, const Process& to, Life peer)
      : self_(self), to_(peer), sockets_(net::ZmqTransport::open({}).value_or_throw()) {
    const net::Address bulk = net::parse_address(to.transport->endpoint().bulk).value_or_throw();
    peer_ = sockets_->connect(net::parse_address(to.address()).value_or_throw(), &bulk).value_or_throw();
    const link::Hello hello{cluster,
                            link::versions_spoken,
                            self_,
                            "",
                            net::to_string(sockets_->control_address()),
                            net::to_string(sockets_->bulk_address())};
    says(net::Channel::control, frame(0, wire::Handshake{hello}));
    REQUIRE(hears([](const wire::Operation& said) {
      const auto* answer = std::get_if<wire::Handshake>(&said);
      return answer != nullptr && std::holds_alternative<link::Welcome>(*answer);
    }));
  }

  Blob frame(std::uint64_t seq, wire::Operation operation) const {
    link::FrameHeader header;
    header.cluster = cluster;
    header.from = self_;
    header.to = to_;
    return frame(header, seq, std::move(operation));
  }
  Blob frame(link::FrameHeader header, std::uint64_t seq, wire::Operation operation) const {
    header.seq = seq;
    header.charge_bytes = wire::size_bytes(operation);
    return wire::encode(link::versions_spoken.max, header, {&operation, 1}).value_or_throw();
  }
  Blob note(std::uint64_t seq, std::string text) const {
    return frame(seq, wire::JobNote{{}, {}, 0, "", "", std::move(text)});
  }
  void says(net::Channel channel, const Blob& frame) {
    while (sockets_->send(peer_, channel, frame) != net::Sent::sent)
      sockets_->poll(std::chrono::milliseconds(5));
  }
  /// False: nothing that is `wanted` in time.
  template <class Wanted>
  bool hears(Wanted wanted) {
    const auto until = std::chrono::steady_clock::now() + dag::test::patient(std::chrono::seconds(10));
    while (std::chrono::steady_clock::now() < until) {
      for (net::TransportEvent& event : sockets_->poll(std::chrono::milliseconds(5))) {
        const auto* frame = std::get_if<net::FrameArrived>(&event);
        if (frame == nullptr) continue;
        const auto envelope = wire::decode(frame->bytes.bytes());
        if (envelope && std::any_of(envelope->operations.begin(), envelope->operations.end(), wanted))
          return true;
      }
    }
    return false;
  }

 private:
  const Life self_, to_;
  std::unique_ptr<net::ZmqTransport> sockets_;
  net::PeerHandle peer_;
};

/// Only the header of such a text can be read.
const std::string too_long(wire::text_bytes_max + 1, 'x');

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

TEST_CASE("who listens and has not begun hears what was said meanwhile when it begins") {
  const Life late_life{ProcessId{1}, {5}}, other_life{ProcessId{2}, {5}}, speaker_life{ProcessId{3}, {5}};
  Process late(late_life, "127.0.0.1:0", false), other(other_life), speaker(speaker_life);
  for (Process* to : {&late, &other}) {
    speaker.transport->send(
        SendMembership{to->address(), std::nullopt, membership::Join{to->address(), {speaker.claim()}}});
  }
  other.hears<membership::Join>();
  CHECK_FALSE(late.has_heard());
  late.transport->begin();
  late.hears<membership::Join>();
}

TEST_CASE("who listens and never begins can end") {
  Process never(Life{ProcessId{1}, {5}}, "127.0.0.1:0", false);
  CHECK_FALSE(never.address().empty());
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

TEST_CASE("a frame of a peer that cannot be read is told once, and what comes behind it arrives") {
  const Life one_life{ProcessId{1}, {5}}, other_life{ProcessId{2}, {5}};
  Process one(one_life);
  Speaker other(other_life, one, one_life);
  // As a link does that gets no acknowledgement.
  for (int i = 0; i < 3; ++i) other.says(net::Channel::control, other.note(1, too_long));
  other.says(net::Channel::control, other.note(2, "after"));
  REQUIRE(one.notes("after"));
  const auto broken = one.broken();
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].first == other_life);
  CHECK(broken[0].second.code == ErrorCode::frame_invalid);
  CHECK_THAT(broken[0].second.what, Catch::Contains("JobNote.text"));
  CHECK_FALSE(broken[0].second.hint.empty());
}

TEST_CASE("a peer whose frames are none is given up, a stranger's are nothing to anybody") {
  const Life one_life{ProcessId{1}, {5}}, other_life{ProcessId{2}, {5}};
  Process one(one_life);
  Speaker other(other_life, one, one_life);
  const Blob nothing = Blob::make_on_heap(64, [](std::byte* bytes) { std::fill_n(bytes, 64, std::byte{1}); });
  Speaker third(Life{{3}, {5}}, one, one_life);
  // On a connection on which nobody we know has spoken.
  for (std::uint32_t i = 0; i < 20; ++i) third.says(net::Channel::bulk, nothing);
  third.says(net::Channel::bulk, third.note(1, "after"));
  REQUIRE(one.notes("after"));
  CHECK(one.broken().empty());
  for (std::uint32_t i = 0; i < 20; ++i) other.says(net::Channel::control, nothing);
  other.says(net::Channel::control, other.note(1, "last"));
  REQUIRE(one.loses(other_life, 2));
  REQUIRE(one.notes("last"));
  const auto broken = one.broken();
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].first == other_life);
}

TEST_CASE("a frame for who listened here before is nobody's fault, a stranger's frame for us is told") {
  const Life one_life{ProcessId{1}, {5}}, before{ProcessId{4}, {5}}, stranger{ProcessId{9}, {5}};
  Process one(one_life);
  Speaker other({ProcessId{2}, {5}}, one, one_life);
  const auto says = [&](ClusterId whose, Life from, Life to) {
    link::FrameHeader header;
    header.cluster = whose;
    header.from = from;
    header.to = to;
    other.says(net::Channel::control, other.frame(header, 1, wire::JobNote{{}, {}, 0, "", "", "lost"}));
  };
  says(cluster, stranger, before);
  says(ClusterId{8}, stranger, one_life);  // Lives of clusters that began in the same second may be equal.
  other.says(net::Channel::control, other.note(1, "after"));
  REQUIRE(one.notes("after"));
  CHECK(one.log().empty());
  says(cluster, stranger, one_life);
  other.says(net::Channel::control, other.note(2, "last"));
  REQUIRE(one.notes("last"));
  REQUIRE(one.log().size() == 1);
  CHECK_THAT(one.log().front(), Catch::Contains("n9.5 was not welcomed here"));
}

TEST_CASE("what cannot be written is told by who was to say it, and what comes behind it arrives") {
  const Life one_life{ProcessId{1}, {5}}, other_life{ProcessId{2}, {5}};
  Process one(one_life), other(other_life);
  one.transport->member_up(other_life, other.transport->endpoint());
  other.transport->member_up(one_life, one.transport->endpoint());
  message::Lend lend;
  lend.job = {77};
  lend.attempt.code.thunk = &lend;  // In no program.
  one.transport->send(other_life, JobMessage(lend));
  const Blob part = Blob::make_on_heap(std::size_t{1} << 20, [](std::byte* bytes) { *bytes = {}; });
  message::Report report;
  report.job = {77};
  report.had.resize(600);
  for (auto& had : report.had) had.record.value = part;
  one.transport->send(other_life, JobMessage(std::move(report)));
  one.transport->note(other_life, wire::JobNote{{}, {}, 0, "", "", "after"});
  REQUIRE(other.notes("after"));
  REQUIRE(one.breaks(2));
  const auto broken = one.broken();
  REQUIRE(broken.size() == 2);  // The larger one is not tried on the way.
  for (const auto& [life, why] : broken) {
    CHECK(life == other_life);
    CHECK(why.code == ErrorCode::frame_invalid);
  }
  CHECK_THAT(broken[0].second.what, Catch::StartsWith("Report of job77, "));
  CHECK_THAT(broken[1].second.what, Catch::StartsWith("Lend of job77, "));
  CHECK(other.broken().empty());
}

TEST_CASE("who is refused hears it, and why") {
  const Life one_life{ProcessId{1}, {5}}, other_life{ProcessId{2}, {5}};
  Process one(one_life), other(other_life);
  other.transport->connect(one.address());
  other.transport->member_up(one_life, one.transport->endpoint());
  other.transport->note(one_life, wire::JobNote{{}, {}, 0, "", "", too_long});
  REQUIRE(one.breaks());
  one.transport->refuse(other_life, one.broken().front().second);
  const auto why = other.unwelcome();
  REQUIRE(why);
  CHECK(*why == one.broken().front().second);
}
