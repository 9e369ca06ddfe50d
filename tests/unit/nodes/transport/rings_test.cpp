// Two processes of one host come to rings between them, or agree that there are none. Both are played in this
// one: descriptors of the own process are opened as those of another.

#include "nodes/transport/rings.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <deque>

using namespace dag;
using transport::Rings;

namespace {

const Life here{{0}, {1}}, there{{1}, {1}};

/// A side, and its messages that the other side has not heard yet.
struct Side : TransportEvents {
  explicit Side(bool shares = true)
      : rings(shares ? std::make_shared<ring::Doorbell>(ring::Doorbell::create(7).value_or_throw()) : nullptr,
              *this, [this](Life, RingMessage message) { said.push_back(std::move(message)); }) {}
  void ring_up(Life, std::shared_ptr<ring::RingCarrier> up) override { carrier = std::move(up); }
  void ring_down(Life) override { carrier.reset(), ++downs; }
  void log(std::string_view line) override { warnings.emplace_back(line); }
  void remark(std::string_view line) override { remarks.emplace_back(line); }

  std::deque<RingMessage> said;
  std::shared_ptr<ring::RingCarrier> carrier;
  int downs = 0;
  std::vector<std::string> warnings, remarks;
  Rings rings;
};

/// Delivers a message; false: there was none.
bool hear(Side& from, Life life, Side& to) {
  if (from.said.empty()) return false;
  RingMessage message = std::move(from.said.front());
  from.said.pop_front();
  to.rings.on_message(life, std::move(message));
  return true;
}
void talk(Side& a, Side& b) {
  while (hear(a, here, b) || hear(b, there, a)) {
  }
}
void open_rings(Side& a, Side& b) {
  a.rings.begin(there);
  b.rings.begin(here);
  talk(a, b);
  REQUIRE(a.carrier);
  REQUIRE(b.carrier);
}

bool passes(ring::RingCarrier& from, ring::RingCarrier& to) {
  const std::array<std::byte, 8> bytes{std::byte{42}};
  if (from.begin().write(3, bytes) != ring::Wrote::written) return false;
  bool same = false;
  to.poll(10, [&](const ring::Record& record) {
    same =
        record.kind == 3 && std::equal(record.bytes.begin(), record.bytes.end(), bytes.begin(), bytes.end());
  });
  return same;
}

}  // namespace

TEST_CASE("two processes get a ring, whoever begins, and whatever is heard first") {
  Side a, b;
  const int order = GENERATE(range(0, 4));
  if (order == 0) a.rings.begin(there), b.rings.begin(here);
  if (order == 1) a.rings.begin(there), hear(a, here, b), b.rings.begin(here);
  if (order == 2) b.rings.begin(here), hear(b, there, a), a.rings.begin(there);
  if (order == 3) a.rings.begin(there), hear(a, here, b), b.rings.begin(here), hear(b, there, a);
  talk(a, b);
  REQUIRE(a.carrier);
  REQUIRE(b.carrier);
  CHECK(passes(*a.carrier, *b.carrier));
  CHECK(passes(*b.carrier, *a.carrier));
  a.rings.begin(there);  // Membership says it again: nothing happens.
  CHECK(a.said.empty());
}

TEST_CASE("nobody writes before the other has said that it reads") {
  Side a, b;
  a.rings.begin(there);
  b.rings.begin(here);
  hear(a, here, b);  // b has both offers and is ready,
  CHECK_FALSE(b.carrier);
  hear(b, there, a);  // and so is a.
  CHECK_FALSE(a.carrier);
  hear(b, there, a);
  CHECK(a.carrier);
  CHECK_FALSE(b.carrier);
  REQUIRE(a.carrier->begin().write(1, {}) ==
          ring::Wrote::written);  // The message lies there until b hears, too.
  hear(a, here, b);
  REQUIRE(b.carrier);
  CHECK(b.carrier->has_news());
}

TEST_CASE("one that shares no rings says so, and the other has none") {
  Side a, b(false);
  b.rings.begin(here);
  CHECK(b.said.empty());
  a.rings.begin(there);
  talk(a, b);
  CHECK_FALSE(a.carrier);
  CHECK(a.remarks.size() == 1);
  CHECK(a.warnings.empty());
}

TEST_CASE("an offer that cannot be accepted closes it for both sides and for good") {
  Side a, b;
  a.rings.begin(there);
  b.rings.begin(here);
  auto& offer = std::get<ring::Offer>(a.said.front());
  SECTION("another host") { offer.host.boot = "another"; }
  SECTION("another process namespace") { ++offer.host.process_namespace; }
  SECTION("a descriptor that is not the ring") { offer.inbox_file = offer.doorbell_file; }
  SECTION("a process that is gone") { offer.process = 0x3fff'ffff; }
  talk(a, b);
  CHECK_FALSE(a.carrier);
  CHECK_FALSE(b.carrier);
  CHECK(a.remarks.size() == 1);
  CHECK(b.remarks.size() == 1);
  CHECK(a.warnings.size() + b.warnings.size() == 0);
  a.rings.begin(there);
  b.rings.begin(here);
  CHECK(a.said.empty());
  CHECK(b.said.empty());
}

TEST_CASE("a ring that breaks is said to both, and not replaced") {
  Side a, b;
  a.rings.begin(there);
  b.rings.begin(here);
  const auto offer = std::get<ring::Offer>(b.said.front());
  talk(a, b);
  REQUIRE(b.carrier);
  // A process scribbles into the memory that b reads.
  ring::RingMemory::open(offer).value_or_throw().view().positions->tail.store(3);
  CHECK(b.carrier->poll(10, [](const ring::Record&) {}) == ring::Polled::broken);
  a.rings.look();
  CHECK(a.carrier);
  b.rings.look();
  CHECK_FALSE(b.carrier);
  CHECK(b.warnings.size() == 1);
  talk(a, b);
  CHECK_FALSE(a.carrier);
  CHECK(a.downs + b.downs == 2);
  a.rings.begin(there);
  b.rings.begin(here);
  talk(a, b);
  CHECK_FALSE(a.carrier);
  b.rings.look();
  CHECK(b.warnings.size() == 1);
}

TEST_CASE("the end of a life takes its ring along; its next life gets another") {
  Side a, b;
  open_rings(a, b);
  a.rings.end(there);
  CHECK_FALSE(a.carrier);
  CHECK(a.downs == 1);
  a.rings.end(there);
  CHECK(a.downs == 1);
  Side next;
  a.rings.begin({{1}, {2}});
  next.rings.begin(here);
  while (hear(a, here, next) || hear(next, {{1}, {2}}, a)) {
  }
  CHECK(a.carrier);
}

TEST_CASE("what is said out of turn opens nothing") {
  Side a;
  a.rings.on_message(there, ring::Ready{});
  a.rings.on_message(there, ring::Offer{});
  CHECK_FALSE(a.carrier);
  a.rings.begin(there);  // Now it looks at the offer, of nothing.
  CHECK_FALSE(a.carrier);
  CHECK(a.remarks.size() == 1);
}

TEST_CASE("a process shares rings with so many, and with another one when one of these has gone") {
  Side a;
  for (std::uint32_t i = 1; i <= Rings::peers_max; ++i) a.rings.begin({{i}, {1}});
  CHECK(a.said.size() == Rings::peers_max);
  CHECK(a.remarks.empty());
  const Life late{{100}, {1}}, later{{101}, {1}};
  a.rings.begin(late);
  CHECK(std::holds_alternative<ring::Closed>(a.said.back()));
  CHECK(a.remarks.size() == 1);
  a.rings.end({{5}, {1}});
  a.rings.begin(later);
  CHECK(std::holds_alternative<ring::Offer>(a.said.back()));
}
