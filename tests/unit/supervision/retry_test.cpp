// Retries: the pause doubles within its limits, losses are not charged, and every task ends.
#include "libdag/supervision/retry.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/check.hpp"

using namespace dag;
using namespace std::chrono_literals;

namespace {

bool about(Duration pause, Duration expected) {
  const auto most = expected + expected / 4 + 1ns;
  const auto least = expected - expected / 4 - 1ns;
  return pause >= least && pause <= most;
}

}  // namespace

TEST_CASE("the pause doubles up to its limit") {
  struct Row {
    Duration backoff;
    std::uint32_t failed;
    Duration pause;
  };
  const auto row = GENERATE(Row{100ms, 1, 100ms}, Row{100ms, 2, 200ms}, Row{100ms, 3, 400ms},
                            Row{100ms, 9, 25'600ms}, Row{100ms, 10, 30s}, Row{100ms, 1'000'000, 30s},
                            Row{0s, 50, 0s}, Row{-1s, 50, 0s}, Row{1h, 1, 1h}, Row{1h, 5, 1h});
  Random random(1);
  const Duration pause = backoff_after({.backoff = row.backoff}, row.failed, random);
  INFO(pause.count());
  CHECK(about(pause, row.pause));
}

TEST_CASE("a pause without end does not overflow") {
  Random random(1);
  for (int draw = 0; draw < 100; ++draw) {
    REQUIRE(backoff_after({.backoff = Duration::max()}, 200, random) > 24h * 365);
  }
}

TEST_CASE("jitter stays in its range, uses it, and repeats with its seed") {
  Random random(7), again(7);
  const Retry policy{.backoff = 1s};
  Duration least = 1h, most{0};
  for (int draw = 0; draw < 1000; ++draw) {
    const Duration pause = backoff_after(policy, 1, random);
    REQUIRE(pause == backoff_after(policy, 1, again));
    least = std::min(least, pause);
    most = std::max(most, pause);
  }
  CHECK((least >= 750ms && least < 770ms));
  CHECK((most <= 1250ms && most > 1230ms));
}

TEST_CASE("failures use up the attempts") {
  Random random(1);
  const Retry policy{.attempts = 3};
  Tries tries;
  CHECK(std::holds_alternative<RetryAfter>(next_retry(policy, tries, Exit::failed, random)));
  CHECK(std::holds_alternative<RetryAfter>(next_retry(policy, tries, Exit::failed, random)));
  CHECK(next_retry(policy, tries, Exit::failed, random) == NextTry(GiveUp{GiveUp::Why::attempts_used_up}));
}

TEST_CASE("one attempt means no retry") {
  Random random(1);
  Tries tries;
  CHECK(next_retry({.attempts = 1}, tries, Exit::failed, random) ==
        NextTry(GiveUp{GiveUp::Why::attempts_used_up}));
}

TEST_CASE("losses are not charged, come back at once, and still end") {
  Random random(1);
  const Retry policy{.attempts = 2};
  Tries tries;
  for (std::uint32_t loss = 0; loss < losses_max; ++loss) {
    REQUIRE(next_retry(policy, tries, Exit::lost, random) == NextTry(RetryAfter{0s}));
  }
  CHECK(tries.failed == 0);
  CHECK(std::holds_alternative<RetryAfter>(next_retry(policy, tries, Exit::failed, random)));
  CHECK(next_retry(policy, tries, Exit::lost, random) == NextTry(GiveUp{GiveUp::Why::lost_too_often}));
}

TEST_CASE("a cancelled attempt is not tried again, and a finished one is never asked about") {
  Random random(1);
  Tries tries;
  CHECK(next_retry({}, tries, Exit::cancelled, random) == NextTry(GiveUp{GiveUp::Why::not_wanted}));
  CHECK(tries == Tries{});
  CHECK_THROWS_AS(next_retry({}, tries, Exit::finished, random), Bug);
}
