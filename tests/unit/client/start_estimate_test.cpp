// When a task that waits for a lane begins.
#include "libdag/client/start_estimate.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace dag::detail;
using namespace std::chrono_literals;

namespace {

constexpr RunEstimate sleeps{10s, 6s, 14s, 27};

RunningNow running(Duration ran) {
  RunningNow now;
  now.ran = ran;
  return now;
}

/// Two lanes, whose tasks have run for so long.
ProcessExplained busy(Duration one, Duration other) {
  ProcessExplained process;
  process.lanes = 2;
  process.running = {running(one), running(other)};
  process.runs = sleeps;
  return process;
}

}  // namespace

TEST_CASE("the first in line begins when the first lane is free, and those behind it follow") {
  const ProcessExplained process = busy(4s, 1s);
  CHECK(starts_in(process, 1, {}) == StartEstimate{6s, 2s, 10s, 27});
  CHECK(starts_in(process, 2, {}) == StartEstimate{9s, 5s, 13s, 27});
  CHECK(starts_in(process, 3, {}) == StartEstimate{16s, 8s, 24s, 27});
}

TEST_CASE("where a lane is idle the first in line begins at once") {
  ProcessExplained process = busy(4s, 1s);
  process.running.pop_back();
  CHECK(starts_in(process, 1, {})->most == 0s);
  CHECK(starts_in(process, 2, {})->about == 6s);
}

TEST_CASE("what a name takes counts before what all take, and an estimate rests on the fewest runs") {
  ProcessExplained process = busy(4s, 1s);
  for (RunningNow& now : process.running) now.usual = RunEstimate{60s, 50s, 70s, 3};
  CHECK(starts_in(process, 1, {}) == StartEstimate{56s, 46s, 66s, 3});
}

TEST_CASE("a run that has taken longer than most may take as long again") {
  const ProcessExplained process = busy(40s, 40s);
  CHECK(starts_in(process, 1, {}) == StartEstimate{0s, 0s, 40s, 27});
}

TEST_CASE("a kernel whose lane was given up keeps no other from it") {
  ProcessExplained process = busy(4s, 1s);
  process.running.push_back(running(100s));
  process.running.back().given_up = true;
  CHECK(starts_in(process, 1, {}) == StartEstimate{6s, 2s, 10s, 27});
}

TEST_CASE("nothing is said of what is not queued, or where nothing is known of how long tasks take") {
  ProcessExplained process = busy(4s, 1s);
  CHECK_FALSE(starts_in(process, 0, sleeps));
  process.runs.reset();
  CHECK_FALSE(starts_in(process, 1, {}));
  CHECK(starts_in(process, 1, sleeps)->about == 6s);
}
