// Single reactions: the frames of a link, their time, and frames that it refuses.
#include "tests/unit/link/link_pair.hpp"

using namespace dag;
using namespace dag::link;
using namespace dag::link::test;

namespace {
Offer put(Machine& machine, std::uint64_t value, Instant now, Machine::Effects& effects) {
  return machine.offer(std::move(value), 8, now, effects);
}
}  // namespace

TEST_CASE("on an idle link an operation is due at once; a row of offers leaves as one frame") {
  Machine a(ends_a, {});
  Machine::Effects effects;
  CHECK_FALSE(a.due());
  for (std::uint64_t i = 0; i < 60; ++i) REQUIRE(put(a, i, at(5), effects) == Offer::taken);
  CHECK(effects.empty());
  REQUIRE(a.due() == at(5));
  a.on_tick(at(5), effects);
  const auto sent = only<Sent>(effects);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].header.seq == 1);
  CHECK(sent[0].header.charge_bytes == 480);
  CHECK(sent[0].batch->operations.size() == 60);
}

TEST_CASE("on a busy link frames are one flush age apart, unless they are full") {
  Machine a(ends_a, {});
  Machine::Effects effects;
  REQUIRE(put(a, 1, at(0), effects) == Offer::taken);
  a.on_tick(at(0), effects);
  REQUIRE(put(a, 2, at(3), effects) == Offer::taken);
  CHECK(a.due() == at(10));
  effects.clear();
  for (std::uint64_t i = 0; i < limits::flush_operations; ++i) {
    REQUIRE(put(a, i, at(4), effects) == Offer::taken);
  }
  REQUIRE(only<Sent>(effects).size() == 1);  // Full: did not wait.
  a.flush(at(5), effects);
  CHECK(only<Sent>(effects).size() == 2);  // The caller knew better.
}

TEST_CASE(
    "an answer to a frame carries its acknowledgement; otherwise one bare frame does, and nothing follows") {
  Machine a(ends_a, {}), b(ends_b, {});
  Machine::Effects effects;
  REQUIRE(put(a, 1, at(0), effects) == Offer::taken);
  a.on_tick(at(0), effects);
  const auto frame = only<Sent>(effects).at(0);

  auto at_b = pass(b, frame, at(10));
  CHECK(only<Sent>(at_b).empty());
  REQUIRE(only<Delivered>(at_b).size() == 1);
  REQUIRE(b.due() == at(1010));
  at_b.clear();
  b.on_tick(at(1010), at_b);
  const auto ack = only<Sent>(at_b);
  REQUIRE(ack.size() == 1);
  CHECK(ack[0].header.seq == 0);
  CHECK(ack[0].header.ack == 2);
  CHECK_FALSE(b.due());
  CHECK(b.quiet());

  CHECK(pass(a, ack[0], at(1020)).empty());
  CHECK(a.quiet());
  CHECK_FALSE(a.due());
}

TEST_CASE("a lost frame is found by the answer to a probe and repeated as it was") {
  Machine a(ends_a, {}), b(ends_b, {});
  Machine::Effects effects;
  REQUIRE(put(a, 41, at(0), effects) == Offer::taken);
  a.on_tick(at(0), effects);
  const auto lost = only<Sent>(effects).at(0);
  effects.clear();
  REQUIRE(a.due() == at(50'000));
  a.on_tick(at(50'000), effects);
  const auto probe = only<Sent>(effects).at(0);
  CHECK(probe.header.seq == 0);
  REQUIRE(probe.header.probe > 0);

  const auto answer = only<Sent>(pass(b, probe, at(50'020))).at(0);
  CHECK(answer.header.answer == probe.header.probe);
  CHECK(answer.header.probe == 0);
  const auto again = only<Sent>(pass(a, answer, at(50'040)));
  REQUIRE(again.size() == 1);
  CHECK(again[0].header.seq == lost.header.seq);
  CHECK(again[0].batch == lost.batch);
  // The same answer once more repeats nothing: what was repeated is younger than the probe.
  CHECK(only<Sent>(pass(a, answer, at(50'050))).empty());
}

TEST_CASE("a gap is repaired without waiting for a timeout") {
  Machine a(ends_a, {}), b(ends_b, {});
  std::vector<Sent> frames;
  for (std::uint64_t i = 0; i < 6; ++i) {
    Machine::Effects effects;
    REQUIRE(put(a, i, at(0), effects) == Offer::taken);
    a.flush(at(0), effects);
    frames.push_back(only<Sent>(effects).at(0));
  }
  std::vector<Sent> repeated;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    for (const Sent& ack : only<Sent>(pass(b, frames[i], at(20)))) {
      for (const Sent& frame : only<Sent>(pass(a, ack, at(40)))) repeated.push_back(frame);
    }
  }
  REQUIRE(repeated.size() == 1);
  const auto delivered = only<Delivered>(pass(b, repeated[0], at(60)));
  REQUIRE(delivered.size() == 6);
  for (std::uint64_t i = 0; i < 6; ++i) CHECK(delivered[i].operations == std::vector<std::uint64_t>{i});
}

TEST_CASE("without credit nothing leaves; what has been handled is given back") {
  LinkOptions options;
  options.window_operations = 8;
  options.flush_operations = 4;
  options.outbox_operations_max = 6;
  Machine a(ends_a, options), b(ends_b, options);
  Machine::Effects effects;
  std::uint64_t offered = 0;
  while (put(a, offered, at(0), effects) != Offer::refused) ++offered;
  CHECK(offered == 14);  // A window and an outbox.
  std::vector<Delivered> delivered;
  for (const Sent& frame : only<Sent>(effects)) {
    for (auto& part : only<Delivered>(pass(b, frame, at(10)))) delivered.push_back(part);
  }
  REQUIRE(delivered.size() == 2);
  CHECK(b.held_operations() == 8);

  effects.clear();
  b.on_handled(delivered[0].operations.size(), delivered[0].charge_bytes, effects);
  const auto credit = only<Sent>(effects);
  REQUIRE(credit.size() == 1);
  CHECK(credit[0].header.credit_operations == 12);
  const auto moved = pass(a, credit[0], at(30));
  CHECK(only<Sent>(moved).size() == 1);
  CHECK(only<RoomAgain>(moved).size() == 1);
}

TEST_CASE("a lost grant of credit is asked for") {
  LinkOptions options;
  options.window_operations = 2;
  options.flush_operations = 1;
  Machine a(ends_a, options), b(ends_b, options);
  Machine::Effects effects;
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(put(a, i, at(0), effects) == Offer::taken);
  Machine::Effects at_b;
  for (const Sent& frame : only<Sent>(effects)) pass(b, frame, at(10));
  b.on_tick(at(2'000), at_b);
  pass(a, only<Sent>(at_b).at(0), at(2'010));
  at_b.clear();
  b.on_handled(2, 16, at_b);
  REQUIRE(only<Sent>(at_b).size() == 1);  // And this one is lost.

  REQUIRE(a.due());
  effects.clear();
  a.on_tick(*a.due(), effects);
  const auto probe = only<Sent>(effects).at(0);
  CHECK(probe.header.probe > 0);
  const auto answer = only<Sent>(pass(b, probe, at(60'000))).at(0);
  const auto sent = only<Sent>(pass(a, answer, at(60'010)));
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].header.seq == 3);
}

TEST_CASE("a silent peer is probed ever more slowly and called away once; it may come back") {
  Machine a(ends_a, {});
  Machine::Effects effects;
  REQUIRE(put(a, 1, at(0), effects) == Offer::taken);
  a.on_tick(at(0), effects);
  effects.clear();
  Instant last = at(0);
  std::vector<Duration> pauses;
  while (last < at(10'000'000)) {
    const Instant due = a.due().value();
    pauses.push_back(due - last);
    last = due;
    a.on_tick(due, effects);
  }
  CHECK(pauses.front() == std::chrono::milliseconds(50));
  CHECK(pauses.back() == std::chrono::seconds(1));
  CHECK(only<PeerAway>(effects).size() == 1);
  CHECK(only<Sent>(effects).size() == pauses.size());
  for (const Sent& frame : only<Sent>(effects)) CHECK(frame.batch == nullptr);

  Machine b(ends_b, {});
  const auto answer = only<Sent>(pass(b, only<Sent>(effects).back(), last)).at(0);
  CHECK(only<PeerBack>(pass(a, answer, last)).size() == 1);
}

TEST_CASE("after a reconnect the link asks at once what was lost") {
  Machine a(ends_a, {});
  Machine::Effects effects;
  a.on_carrier_restored(at(0), effects);
  CHECK(effects.empty());
  REQUIRE(put(a, 1, at(0), effects) == Offer::taken);
  a.on_tick(at(0), effects);
  effects.clear();
  a.on_carrier_restored(at(100), effects);
  CHECK(only<Sent>(effects).at(0).header.probe > 0);
}

TEST_CASE("after a reconnect the link says again what the peer waits for") {
  Machine a(ends_a, {}), b(ends_b, {});
  Machine::Effects effects;
  REQUIRE(put(a, 41, at(0), effects) == Offer::taken);
  a.on_tick(at(0), effects);
  const auto frame = only<Sent>(effects).at(0);
  effects.clear();
  a.on_carrier_restored(at(100), effects);
  const auto probe = only<Sent>(effects).at(0);
  SECTION("an answer: frames are lost when our way connects, the answer when the peer's does") {
    REQUIRE(only<Sent>(pass(b, probe, at(200))).at(0).header.answer == probe.header.probe);
    effects.clear();
    b.on_carrier_restored(at(300), effects);
    const auto answer = only<Sent>(effects);
    REQUIRE(answer.size() == 1);
    CHECK(answer[0].header.answer == probe.header.probe);
    CHECK(only<Sent>(pass(a, answer[0], at(400))).at(0).header.seq == 1);
  }
  SECTION("an acknowledgement") {
    pass(b, frame, at(200));
    effects.clear();
    b.on_tick(at(1200), effects);
    REQUIRE(only<Sent>(effects).size() == 1);
    effects.clear();
    b.on_carrier_restored(at(1300), effects);
    REQUIRE(only<Sent>(effects).size() == 1);
    pass(a, only<Sent>(effects)[0], at(1400));
    CHECK(a.quiet());
  }
}

TEST_CASE("frames of other lives change nothing") {
  Machine b(ends_b, {});
  FrameHeader header;
  header.cluster = cluster;
  header.from = life_a;
  header.to = life_b;
  header.seq = 1;
  header.charge_bytes = 8;
  auto refusal = [&b](const FrameHeader& other, std::vector<std::uint64_t> operations) {
    Machine::Effects effects;
    b.on_frame(other, std::move(operations), at(0), effects);
    CHECK(only<Delivered>(effects).empty());
    REQUIRE(only<FrameRefused>(effects).size() == 1);
    return std::pair(only<FrameRefused>(effects)[0].why, only<Sent>(effects).size());
  };
  auto with = [&header](auto change) {
    FrameHeader other = header;
    change(other);
    return other;
  };
  using H = FrameHeader;
  CHECK(refusal(with([](H& h) { h.cluster.value = 8; }), {1}) == std::pair(Refusal::other_cluster, 0ul));
  CHECK(refusal(with([](H& h) { h.from.process.value = 9; }), {1}) == std::pair(Refusal::other_process, 0ul));
  CHECK(refusal(with([](H& h) { h.to.process.value = 9; }), {1}) == std::pair(Refusal::other_process, 0ul));
  CHECK(refusal(with([](H& h) { h.from.incarnation.value = 2; }), {1}) ==
        std::pair(Refusal::stale_sender, 0ul));
  CHECK(refusal(with([](H& h) { h.from.incarnation.value = 4; }), {1}) ==
        std::pair(Refusal::newer_sender, 0ul));
  // A peer that believes us in an earlier life is told; once, since a bare frame is not answered.
  CHECK(refusal(with([](H& h) { h.to.incarnation.value = 4; }), {1}) ==
        std::pair(Refusal::other_receiver, 1ul));
  CHECK(refusal(with([](H& h) { h.to.incarnation.value = 4, h.seq = 0; }), {}) ==
        std::pair(Refusal::other_receiver, 0ul));
  CHECK(refusal(header, {}) == std::pair(Refusal::malformed, 0ul));
  CHECK(refusal(with([](H& h) { h.seq = 0; }), {1}) == std::pair(Refusal::malformed, 0ul));
  CHECK(refusal(with([](H& h) { h.ack = 2; }), {1}) == std::pair(Refusal::ack_of_unsent, 0ul));
  CHECK(refusal(with([](H& h) { h.answer = 1; }), {1}) == std::pair(Refusal::ack_of_unsent, 0ul));
  CHECK(refusal(with([](H& h) { h.seq = 65; }), {1}).first == Refusal::beyond_window);
  CHECK(refusal(with([](H& h) { h.charge_bytes = ~0ull; }), {1}).first == Refusal::over_credit);
  CHECK(refusal(header, std::vector<std::uint64_t>(limits::credit_operations + 1)).first ==
        Refusal::over_credit);
  CHECK(b.held_operations() == 0);
  CHECK(b.held_bytes() == 0);
}

TEST_CASE("every refusal has a name") {
  for (int i = 0; i <= static_cast<int>(Refusal::over_credit); ++i) {
    CHECK(name(static_cast<Refusal>(i)) != "unknown");
  }
}
