// Durations as people read them.
#include "libdag/base/time.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace std::chrono_literals;

TEST_CASE("a duration is said in the unit that fits it, from a minute on in two") {
  CHECK(text_of(0ns) == "0");
  CHECK(text_of(999ns) == "999ns");
  CHECK(text_of(1500us) == "1.5ms");
  CHECK(text_of(12s) == "12s");
  CHECK(text_of(59'999ms) == "60s");
  CHECK(text_of(60s) == "1min");
  CHECK(text_of(100s + 900ms) == "1min 40s");
  CHECK(text_of(12'350s) == "3h 25min");
  CHECK(text_of(24h) == "1d");
  CHECK(text_of(24h * 1000 + 30h) == "1001d 6h");
  CHECK(text_of(-90s) == "-1min 30s");
  CHECK(text_of(-2s) == "-2s");
}
