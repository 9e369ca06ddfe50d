// How often it pays to save.
#include "libdag/supervision/checkpoint_interval.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace dag;
using namespace std::chrono_literals;

namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// The lost share of time: saving, and repeating the work that a loss in the middle of an interval undid.
double waste(double interval, double cost, double lost_after) {
  return cost / (interval + cost) + (interval + cost) / 2 / lost_after;
}

}  // namespace

TEST_CASE("the interval loses hardly more time than the best one") {
  for (const double cost : {0.0001, 0.01, 1.0}) {
    for (const double lost_after : {600.0, 86'400.0}) {
      if (cost / lost_after > 1e-4) continue;  // There the 2 % decide.
      const Duration chosen = checkpoint_interval(
          std::chrono::duration_cast<Duration>(std::chrono::duration<double>(cost)),
          std::chrono::duration_cast<Duration>(std::chrono::duration<double>(lost_after)));
      double best = 1;
      for (double interval = cost; interval < lost_after; interval *= 1.05)
        best = std::min(best, waste(interval, cost, lost_after));
      CHECK(waste(seconds(chosen), cost, lost_after) < 1.1 * best);
    }
  }
}

TEST_CASE("saving never takes more than 2 % of the time, however often processes are lost") {
  CHECK(seconds(checkpoint_interval(1s, 10s)) == Approx(49));
  CHECK(checkpoint_interval(0s, 10h) == 0s);
}

TEST_CASE("the mean time to a loss is an hour until something is known") {
  Losses losses;
  const Instant begin{100h};
  CHECK(losses.mean_time(begin, 4) == 1h);
  losses.note(0, 4, begin);
  CHECK(losses.mean_time(begin + 1h, 4) == 5h);  // Four processes, nothing lost.
  losses.note(1, 4, begin + 1h);
  CHECK(seconds(losses.mean_time(begin + 1h, 4)) == Approx(2.5 * 3600));
}

TEST_CASE("saves at given moments are made when the interval has passed that their cost makes best") {
  SaveTimes times;
  const Instant start{10h};
  times.begin(start);
  // sqrt(2 * 10 ms * 10,000 s): before one was measured.
  CHECK_FALSE(times.due(0s, 10'000s, start + 14s));
  CHECK(times.due(0s, 10'000s, start + 15s));
  times.saved(start + 15s);
  // Two actors that are saved together: the slower one holds both up.
  times.took(5ms);
  times.took(1990ms);
  CHECK_FALSE(times.due(0s, 10'000s, start + 15s + 140s));
  CHECK(times.due(0s, 10'000s, start + 15s + 142s));
  // A stated interval counts more.
  CHECK_FALSE(times.due(30s, 10'000s, start + 15s + 29s));
  CHECK(times.due(30s, 10'000s, start + 15s + 30s));
}
