// Run times that a lane expects of a kernel.
#include "actors/lanes/kernel_times.hpp"

#include <catch2/catch.hpp>

using namespace dag;

TEST_CASE("a kernel is what it was, rises at once and falls slowly") {
  KernelTimes times;
  const int here = 0;
  const detail::Code code{&here, nullptr};
  CHECK(times.of(code, 1'000'000).ticks == 1'000'000);  // Not seen.
  KernelTimes::ran(times.of(code, 1'000'000), 80);
  CHECK(times.of(code, 1'000'000).ticks == 80);
  KernelTimes::ran(times.of(code, 1'000'000), 800);
  CHECK(times.of(code, 1'000'000).ticks == 800);
  KernelTimes::ran(times.of(code, 1'000'000), 0);
  CHECK(times.of(code, 1'000'000).ticks == 700);
  for (int i = 0; i < 100; ++i) KernelTimes::ran(times.of(code, 1'000'000), 80);
  CHECK(times.of(code, 1'000'000).ticks < 100);
}

TEST_CASE("of two kernels in one place the newer is known, and neither is taken for the other") {
  KernelTimes times;
  static const char many[4096] = {};
  for (int round = 0; round < 2; ++round) {
    for (const char& each : many) {
      const detail::Code code{&each, nullptr};
      KernelTimes::Entry& entry = times.of(code, -1);
      REQUIRE(entry.code == code);
      REQUIRE((entry.ticks == -1 || entry.ticks == &each - many));
      KernelTimes::ran(entry, &each - many);
    }
  }
}
