// Whatever a carrier does short of losing everything for ever: exactly once, in order, with bounded memory,
// and in the end silence. One seed, one history: a failure names its seed.
#include "tests/unit/link/link_pair.hpp"

using namespace dag;
using namespace dag::link;
using namespace dag::link::test;

namespace {

/// A Catch assertion costs more than a step of the link.
void must(bool fact, const char* what) {
  if (!fact) FAIL(what);
}

/// An end of a link, with offered and delivered operations, and an application that handles them slowly.
struct End {
  Machine machine;
  std::uint64_t to_offer = 0;
  std::uint64_t offered = 0;
  std::uint64_t delivered = 0;
  bool slow_down = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unhandled = {};
};

LinkOptions random_options(Random& random) {
  LinkOptions options;
  if (random.chance(0.3)) return options;
  // Small limits meet each other far more often than real ones.
  options.flush_operations = 1 + random.below(4);
  options.flush_bytes = 1 + random.below(200);
  options.window_operations = options.flush_operations * 2 + random.below(40);
  options.operation_bytes_max = 64 + random.below(64);
  options.window_bytes = 2 * std::max(options.operation_bytes_max, options.flush_bytes) + random.below(500);
  options.outbox_operations_max = 2 + random.below(10);
  options.outbox_bytes_max = 2 * options.operation_bytes_max + random.below(300);
  options.ack_frames = 1 + random.below(20);
  options.ack_after = std::chrono::microseconds(random.below(2000));
  options.probe_after = std::chrono::microseconds(2001 + random.below(50'000));
  options.probe_after_max = options.probe_after * (1 + static_cast<int>(random.below(8)));
  return options;
}

class Run {
 public:
  explicit Run(std::uint64_t seed)
      : random_(seed),
        options_(random_options(random_)),
        ends_{End{Machine(ends_a, options_)}, End{Machine(ends_b, options_)}} {
    sins_.lose = random_.chance(0.2) ? 0 : random_.unit() * 0.5;
    sins_.repeat = random_.chance(0.3) ? 0 : random_.unit() * 0.3;
    sins_.delay_us_max = random_.chance(0.3) ? 0 : static_cast<std::int64_t>(random_.below(5000));
    for (End& end : ends_) end.to_offer = random_.chance(0.1) ? 0 : random_.below(250);
  }

  void run() {
    for (std::uint64_t step = 0; !over(); ++step) {
      must(step < 400'000, "it ends");
      act();
      check_bounds();
    }
    for (int i = 0; i < 2; ++i) {
      CHECK(ends_[i].delivered == ends_[1 - i].to_offer);
      CHECK(ends_[i].machine.quiet());
      CHECK_FALSE(ends_[i].machine.due());
    }
  }

 private:
  bool over() const {
    for (int i = 0; i < 2; ++i) {
      if (!carriers_[i].empty() || ends_[i].machine.due() || ends_[i].offered < ends_[i].to_offer ||
          !ends_[i].unhandled.empty()) {
        return false;
      }
    }
    return true;
  }

  void act() {
    const int i = static_cast<int>(random_.below(2));
    End& end = ends_[i];
    Machine::Effects effects;
    if (random_.chance(0.4) && end.offered < end.to_offer && !end.slow_down) {
      offer_some(end, effects);
    } else if (random_.chance(0.3) && !end.unhandled.empty()) {
      const auto [operations, charge] = end.unhandled.front();
      end.unhandled.erase(end.unhandled.begin());
      end.machine.on_handled(operations, charge, effects);
    } else if (random_.chance(0.02)) {
      end.machine.on_carrier_restored(now_, effects);
    } else {
      pass_time();
    }
    carry_out(i, effects);
    for (int k = 0; k < 2; ++k) catch_up(k);
  }

  void offer_some(End& end, Machine::Effects& effects) {
    for (std::uint64_t left = 1 + random_.below(8); left > 0 && end.offered < end.to_offer; --left) {
      const std::size_t size_bytes = 1 + random_.below(options_.operation_bytes_max);
      std::uint64_t value = end.offered;
      const Offer offer = end.machine.offer(std::move(value), size_bytes, now_, effects);
      if (offer != Offer::refused) ++end.offered;
      if (offer == Offer::taken) continue;
      end.slow_down = true;
      break;
    }
    if (random_.chance(0.1)) end.machine.flush(now_, effects);
  }

  /// To the next thing that happens, or a random bit further.
  void pass_time() {
    std::optional<Instant> next;
    for (int i = 0; i < 2; ++i) {
      if (!carriers_[i].empty()) next = next ? std::min(*next, carriers_[i].next()) : carriers_[i].next();
      if (const auto due = ends_[i].machine.due()) next = next ? std::min(*next, *due) : *due;
    }
    if (next) now_ = std::max(now_, *next);
    if (random_.chance(0.2)) now_ = now_ + std::chrono::microseconds(random_.below(3000));
  }

  void catch_up(int i) {
    while (!carriers_[1 - i].empty() && carriers_[1 - i].next() <= now_) {
      const Sent frame = carriers_[1 - i].take();
      carry_out(i, pass(ends_[i].machine, frame, now_));
    }
    Machine::Effects effects;
    if (const auto due = ends_[i].machine.due(); due && *due <= now_) ends_[i].machine.on_tick(now_, effects);
    carry_out(i, effects);
  }

  void carry_out(int i, const Machine::Effects& effects) {
    End& end = ends_[i];
    for (const auto& effect : effects) {
      if (const Sent* frame = std::get_if<Sent>(&effect)) {
        carriers_[i].send(*frame, now_, sins_, random_);
      } else if (const Delivered* part = std::get_if<Delivered>(&effect)) {
        for (const std::uint64_t value : part->operations) must(value == end.delivered++, "in order, once");
        end.unhandled.emplace_back(part->operations.size(), part->charge_bytes);
      } else if (std::holds_alternative<RoomAgain>(effect)) {
        end.slow_down = false;
      } else {
        // Honest ends never refuse each other.
        must(!std::holds_alternative<FrameRefused>(effect), "no refusal");
      }
    }
  }

  void check_bounds() {
    for (const End& end : ends_) {
      must(end.machine.queued_operations() <= options_.outbox_operations_max, "bounded queued_operations");
      must(end.machine.queued_bytes() <= options_.outbox_bytes_max, "bounded queued_bytes");
      must(end.machine.frames_in_flight() <= frames_in_flight_max, "bounded frames_in_flight");
      must(end.machine.held_operations() <= options_.window_operations, "bounded held_operations");
      must(end.machine.held_bytes() <= options_.window_bytes, "bounded held_bytes");
    }
  }

  Random random_;
  LinkOptions options_;
  Sins sins_;
  Instant now_;
  End ends_[2];
  Carrier carriers_[2];
};

}  // namespace

TEST_CASE("exactly once, in order, bounded, and it ends: thousands of seeds") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    INFO("seed " << seed);
    Run(seed).run();
  }
}

TEST_CASE("a peer that never acknowledges costs one window, one outbox, and one small frame per pause") {
  Random random(1);
  Machine a(ends_a, {});
  Instant now;
  std::uint64_t operations = 0, frames = 0, bare = 0;
  std::uint64_t taken = 0;
  for (int step = 0; step < 200'000; ++step) {
    now = now + std::chrono::microseconds(random.below(1000));
    Machine::Effects effects;
    if (a.offer(std::uint64_t{taken}, 4000, now, effects) != Offer::refused) ++taken;
    if (a.due() && *a.due() <= now) a.on_tick(now, effects);
    for (const Sent& frame : only<Sent>(effects)) {
      frames += frame.batch ? 1 : 0;
      bare += frame.batch ? 0 : 1;
      operations += frame.batch ? frame.batch->operations.size() : 0;
    }
  }
  CHECK(frames <= frames_in_flight_max);
  CHECK(taken - operations <= LinkOptions{}.outbox_operations_max);
  CHECK((taken - operations) * 4000 <= LinkOptions{}.outbox_bytes_max);
  CHECK(bare <= 6 + static_cast<std::uint64_t>((now - Instant{}) / LinkOptions{}.probe_after_max));
}

TEST_CASE(
    "when a life ends, what was delivered is a beginning of what was offered, and the next life starts "
    "anew") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Machine a(ends_a, {});
    Machine b(ends_b, {});
    const LinkEnds reborn_b{cluster, Life{life_b.process, Incarnation{6}}, life_a};
    Machine b2(reborn_b, {});
    std::uint64_t delivered = 0;
    bool told = false;
    for (std::uint64_t value = 0; value < 40 && !told; ++value) {
      Machine::Effects effects;
      REQUIRE(a.offer(std::uint64_t{value}, 8, at(0), effects) == Offer::taken);
      a.flush(at(0), effects);
      for (const Sent& frame : only<Sent>(effects)) {
        if (random.chance(0.2)) continue;
        if (value < 20) {
          for (const auto& part : only<Delivered>(pass(b, frame, at(1)))) {
            for (const std::uint64_t got : part.operations) REQUIRE(got == delivered++);
          }
          continue;
        }
        const auto answer = pass(b2, frame, at(1));
        CHECK(only<Delivered>(answer).empty());
        for (const Sent& back : only<Sent>(answer)) {
          const auto learned = only<FrameRefused>(pass(a, back, at(2)));
          REQUIRE(learned.size() == 1);
          CHECK(learned[0].why == Refusal::newer_sender);
          CHECK(learned[0].from == reborn_b.self);
          told = true;
        }
      }
    }
    CHECK(told);
    CHECK(delivered <= 20);
  }
}
