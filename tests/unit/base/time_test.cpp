// Durations as people read them, and their sums.
#include "libdag/base/time.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "libdag/base/saturating.hpp"

using namespace dag;
using namespace std::chrono_literals;

TEST_CASE("a duration is said in the unit that fits it, from a minute on in two") {
  CHECK(text_of(0ns) == "0 s");
  CHECK(text_of(999ns) == "999 ns");
  CHECK(text_of(1500us) == "1.5 ms");
  CHECK(text_of(850ms) == "850 ms");
  CHECK(text_of(999'700us) == "1000 ms");
  CHECK(text_of(1'234'567us) == "1.23 s");
  CHECK(text_of(12s) == "12 s");
  CHECK(text_of(59'999ms) == "60 s");
  CHECK(text_of(60s) == "1 min");
  CHECK(text_of(100s + 900ms) == "1 min 40 s");
  CHECK(text_of(12'350s) == "3 h 25 min");
  CHECK(text_of(24h) == "1 d");
  CHECK(text_of(24h * 1000 + 30h) == "1001 d 6 h");
  CHECK(text_of(-90s) == "-1 min 30 s");
  CHECK(text_of(-2s) == "-2 s");
}

TEST_CASE("a sum that does not fit stays at the last duration, which means for ever") {
  constexpr Duration most = Duration::max(), least = Duration::min();
  CHECK(sum(1s, 2s) == 3s);
  CHECK(sum(most, 1ns) == most);
  CHECK(sum(most - 5ns, 5ns) == most);
  CHECK(sum(least, -1ns) == least);
  CHECK(sum(most, least) == -1ns);
  CHECK(times(2s, 3) == 6s);
  CHECK(times(most, 2) == most);
  CHECK(times(least, 2) == least);
  CHECK(times(1ns, std::numeric_limits<std::uint64_t>::max()) == most);
  CHECK(later({5s}, most) == Instant{most});
  CHECK(later({5s}, 1s) == Instant{6s});
  CHECK(is_for_ever(most));
  CHECK_FALSE(is_for_ever(24h * 365 * 140));
  CHECK(seconds_of(1.5) == 1500ms);
  CHECK(seconds_of(1e300) == most);
  CHECK(seconds_of(-1e300) == least);
  CHECK(seconds_of(std::numeric_limits<double>::quiet_NaN()) == most);
}
