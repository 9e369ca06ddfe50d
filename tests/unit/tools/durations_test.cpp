#include "tools/dag/durations.hpp"

#include <catch2/catch.hpp>

using dag::tool::seconds_of;

TEST_CASE("durations are written with units, and bare numbers are seconds") {
  CHECK(seconds_of("30s") == 30.0);
  CHECK(seconds_of("5m") == 300.0);
  CHECK(seconds_of("1h30m") == 5400.0);
  CHECK(seconds_of("1.5h") == 5400.0);
  CHECK(seconds_of("2d") == 172800.0);
  CHECK(seconds_of("250ms") == 0.25);
  CHECK(seconds_of("10") == 10.0);
  CHECK(seconds_of("0.5") == 0.5);
  CHECK(seconds_of("1e3") == 1000.0);
  CHECK(seconds_of("0") == 0.0);
  for (const char* none :
       {"", "s", "5q", "1h30", "-1s", "-1", "nan", "inf", "1e99", "30 s", "1s ", "99999999d"})
    CHECK(seconds_of(none) == std::nullopt);
}
