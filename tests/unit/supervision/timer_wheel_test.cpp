// The wheel against std::multimap, which is the obvious way to do it.
#include "libdag/supervision/timer_wheel.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "libdag/base/ids.hpp"
#include "libdag/base/random.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

/// The wheel's promise, written down naively: sorted by (instant, scheduling), due when the tick has
/// passed.
class NaiveTimers {
 public:
  explicit NaiveTimers(Duration tick) : tick_(tick) {}
  void schedule(int id, Instant at) {
    cancel(id);
    timers_.emplace(at, id);  // Equal keys keep the order of insertion.
  }
  bool cancel(int id) {
    for (auto timer = timers_.begin(); timer != timers_.end(); ++timer) {
      if (timer->second != id) continue;
      timers_.erase(timer);
      return true;
    }
    return false;
  }
  std::vector<int> advance(Instant now) {
    const Instant until{now.since_start / tick_ * tick_};
    std::vector<int> expired;
    while (!timers_.empty() && timers_.begin()->first <= until) {
      expired.push_back(timers_.begin()->second);
      timers_.erase(timers_.begin());
    }
    return expired;
  }
  std::optional<Instant> first() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first;
  }
  std::size_t size() const { return timers_.size(); }

 private:
  Duration tick_;
  std::multimap<Instant, int> timers_;
};

/// Spans that reach every level, with many small ones.
Duration random_span(Random& random) {
  return Duration(static_cast<Duration::rep>(random.next() >> (64 - 1 - random.below(50))));
}

}  // namespace

TEST_CASE("a random history of timers equals that of a multimap") {
  Random random(GENERATE(range(1u, 60u)));
  const Duration tick = random.chance(0.5) ? Duration(1ms) : Duration(1 + random.below(1000));
  Instant now{random_span(random)};
  TimerWheel<int> wheel(now, {.tick = tick});
  NaiveTimers naive(tick);
  for (int step = 0; step < 600; ++step) {
    const int id = static_cast<int>(random.below(80));
    switch (random.below(4)) {
      case 0:
      case 1: {
        const bool past = random.chance(0.05);
        const Instant at = past ? now - random_span(random) : now + random_span(random);
        wheel.schedule(id, at);
        naive.schedule(id, at);
        break;
      }
      case 2:
        REQUIRE(wheel.cancel(id) == naive.cancel(id));
        break;
      default:
        if (random.chance(0.3) && naive.first() && *naive.first() > now) {
          now = *naive.first();  // Exactly on a timer, where off-by-ones live.
        } else {
          now = now + random_span(random);
        }
        REQUIRE(wheel.advance(now) == naive.advance(now));
    }
    REQUIRE(wheel.size() == naive.size());
    REQUIRE(wheel.wake_at().has_value() == (wheel.size() > 0));
  }
}

TEST_CASE("following wake_at misses nothing and wakes seldom") {
  Random random(GENERATE(range(1u, 30u)));
  Instant now{1s};
  TimerWheel<int> wheel(now);
  std::map<int, Instant> expected;
  for (int id = 0; id < 200; ++id) {
    expected[id] = now + Duration(random.below(1'000'000'000'000));
    wheel.schedule(id, expected[id]);
  }
  int wakes = 0;
  while (const auto wake = wheel.wake_at()) {
    REQUIRE(*wake >= now);
    now = *wake;
    ++wakes;
    for (const int id : wheel.advance(now)) {
      REQUIRE(now >= expected[id]);
      REQUIRE(now - expected[id] < 1ms);
      expected.erase(id);
    }
  }
  CHECK(expected.empty());
  CHECK(wakes <= 200 * 7);
}

TEST_CASE("scheduling an id again moves its timer") {
  TimerWheel<TaskId> wheel(Instant{0s});
  wheel.schedule(TaskId{0, 1}, Instant{10ms});
  wheel.schedule(TaskId{0, 1}, Instant{20ms});
  CHECK(wheel.size() == 1);
  CHECK(wheel.advance(Instant{15ms}).empty());
  CHECK(wheel.advance(Instant{20ms}) == std::vector<TaskId>{{0, 1}});
  CHECK_FALSE(wheel.cancel(TaskId{0, 1}));
}

TEST_CASE("time that stands still or goes back finds nothing new") {
  TimerWheel<int> wheel(Instant{1s});
  wheel.schedule(1, Instant{1010ms});
  CHECK(wheel.advance(Instant{1s}).empty());
  CHECK(wheel.advance(Instant{500ms}).empty());
  CHECK(wheel.advance(Instant{1010ms}) == std::vector<int>{1});
  wheel.schedule(2, Instant{5ms});  // Long past.
  CHECK(wheel.advance(Instant{1010ms}) == std::vector<int>{2});
}

TEST_CASE("a timer as far away as time goes can be kept and cancelled") {
  TimerWheel<int> wheel(Instant{0s}, {.tick = GENERATE(Duration(1ns), Duration(1ms), Duration::max())});
  wheel.schedule(1, Instant{Duration::max()});
  CHECK(wheel.wake_at() <= Instant{Duration::max()});
  CHECK(wheel.advance(Instant{24h * 365}).empty());
  CHECK(wheel.cancel(1));
  CHECK_FALSE(wheel.wake_at());
}

TEST_CASE("more timers than the limit are a bug") {
  TimerWheel<int> wheel(Instant{0s}, {.timers_max = 2});
  wheel.schedule(1, Instant{1s});
  wheel.schedule(2, Instant{1s});
  wheel.schedule(2, Instant{2s});
  CHECK_THROWS_AS(wheel.schedule(3, Instant{1s}), Bug);
}
