// News from another process is read whatever the lanes do: asleep, or all in long kernels.

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "actors/lanes/edge_record.hpp"
#include "actors/lanes/lanes.hpp"
#include "dag/context.hpp"
#include "tests/support/patience.hpp"

namespace {

using Clock = std::chrono::steady_clock;
const auto patience = dag::test::patient(std::chrono::seconds(60));

std::shared_ptr<dag::ring::Doorbell> make_doorbell(std::uint64_t nonce) {
  return std::make_shared<dag::ring::Doorbell>(dag::ring::Doorbell::create(nonce).value_or_throw());
}

/// Rings between lanes and a peer, which is played by the test.
struct Peer {
  explicit Peer(const std::shared_ptr<dag::ring::Doorbell>& of_lanes) {
    using namespace dag::ring;
    RingMemory inbox = RingMemory::create(3).value_or_throw(),
               theirs = RingMemory::create(4).value_or_throw();
    const Offer own_offer = offer(inbox, *doorbell).value_or_throw();
    const Offer lanes_offer = offer(theirs, *of_lanes).value_or_throw();
    carrier = std::make_shared<RingCarrier>(std::move(inbox), accept(lanes_offer).value_or_throw());
    of_the_lanes = std::make_shared<RingCarrier>(std::move(theirs), accept(own_offer).value_or_throw());
  }
  void say() {
    // News of an unknown job.
    const dag::EdgeRecord news = dag::record_of({{9}, 0, {1, 1}, 1, {1, 1}, 0, 1, {}});
    REQUIRE(carrier->begin().write(dag::EdgeRecord::kind, std::as_bytes(std::span(&news, 1))) ==
            dag::ring::Wrote::written);
  }
  /// True if the news was read within the patience.
  bool heard_since(std::uint64_t polled) const {
    const auto until = Clock::now() + patience;
    while (of_the_lanes->polled_bytes() == polled && !of_the_lanes->broken()) {
      if (Clock::now() > until) return false;
      std::this_thread::yield();
    }
    return true;
  }

  dag::Life life{{1}, {1}};
  std::shared_ptr<dag::ring::Doorbell> doorbell = make_doorbell(2);
  std::shared_ptr<dag::ring::RingCarrier> carrier, of_the_lanes;
};

/// A kernel that runs until it is told to end.
struct LongKernel {
  std::atomic<bool> running{false}, end{false}, ended{false};

  void start(dag::Lanes& lanes) {
    current() = this;
    dag::Graph graph("long");
    graph.task("long", [] {
      current()->running = true;
      while (!current()->end) std::this_thread::yield();
      return 1;
    });
    const auto& fragment = graph.builder().sealed();
    dag::Attempt attempt;
    attempt.job = {1};
    attempt.task = {0, 0};
    attempt.code = fragment.codes[fragment.kind(0).code];
    lanes.start(std::move(attempt), dag::Priority::normal, [this](dag::AttemptEnd&&) { ended = true; });
    while (!running) std::this_thread::yield();
  }
  void stop() {
    end = true;
    while (!ended) std::this_thread::yield();
  }
  static LongKernel*& current() {
    static LongKernel* kernel = nullptr;
    return kernel;
  }
};

}  // namespace

TEST_CASE("news of a peer is read while lanes sleep, and while all run long kernels") {
  const auto doorbell = make_doorbell(1);
  dag::Lanes lanes({.cores = {-1}, .spin = dag::Duration{0}, .doorbell = doorbell}, {});
  Peer peer(doorbell);
  lanes.add_ring(peer.life, peer.of_the_lanes);
  std::uint64_t polled = 0;
  const auto say_and_check = [&] {
    peer.say();
    CHECK(peer.heard_since(polled));
    polled = peer.of_the_lanes->polled_bytes();
  };
  for (int i = 0; i < 20; ++i) say_and_check();
  LongKernel kernel;
  kernel.start(lanes);
  for (int i = 0; i < 20; ++i) say_and_check();
  kernel.stop();
  say_and_check();
}

TEST_CASE("a ring that was removed is not read any more") {
  const auto doorbell = make_doorbell(1);
  dag::Lanes lanes({.cores = {-1}, .spin = dag::Duration{0}, .doorbell = doorbell}, {});
  Peer one(doorbell), other(doorbell);
  other.life = {{2}, {1}};
  lanes.add_ring(one.life, one.of_the_lanes);
  lanes.add_ring(other.life, other.of_the_lanes);
  lanes.remove_ring(one.life);
  one.say();
  other.say();
  CHECK(other.heard_since(0));
  CHECK(one.of_the_lanes->polled_bytes() == 0);
}

TEST_CASE("many lanes on one bell: each row finds one, and a peer that rings for nothing does no harm") {
  const auto doorbell = make_doorbell(1);
  std::atomic<std::uint64_t> ended{0};
  constexpr std::uint64_t attempts = 3000;
  {
    dag::Lanes lanes({.cores = {-1, -1, -1, -1}, .spin = dag::Duration{0}, .doorbell = doorbell}, {});
    std::atomic<bool> stop{false};
    std::thread ringer([&] {
      while (!stop) {
        doorbell->ring();
        std::this_thread::yield();
      }
    });
    dag::Graph graph("one");
    graph.task("one", [] { return 1; });
    const auto& fragment = graph.builder().sealed();
    for (std::uint32_t i = 0; i < attempts; ++i) {
      dag::Attempt attempt;
      attempt.job = {1};
      attempt.task = {0, i};
      attempt.code = fragment.codes[fragment.kind(0).code];
      lanes.start(std::move(attempt), dag::Priority::normal, [&](dag::AttemptEnd&&) { ++ended; });
      if (i % 5 != 0) continue;
      const auto until = Clock::now() + patience;
      while (ended <= i && Clock::now() < until) std::this_thread::yield();
      REQUIRE(ended == i + 1);
    }
    stop = true;
    ringer.join();
    const auto until = Clock::now() + patience;
    while (ended < attempts && Clock::now() < until) std::this_thread::yield();
  }
  CHECK(ended == attempts);
}
