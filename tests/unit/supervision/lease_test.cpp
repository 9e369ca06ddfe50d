// The lease under which a process runs what must not run twice at a time.
#include "libdag/supervision/lease.hpp"

#include <catch2/catch.hpp>

using namespace dag;
using namespace std::chrono_literals;

namespace {
constexpr Instant at(Duration time) { return Instant{time}; }
}  // namespace

TEST_CASE("a lease that nobody wants is not asked for") {
  Lease lease(8s);
  CHECK_FALSE(lease.ask_at());
  CHECK_FALSE(lease.question(at(100s)));
  lease.want(true);
  CHECK(lease.question(at(100s)));
  lease.want(false);
  CHECK_FALSE(lease.question(at(200s)));
}

TEST_CASE("a lease holds seven eighths from when the question was sent that was answered") {
  Lease lease(8s);
  lease.want(true);
  CHECK_FALSE(lease.held(at(0s)));
  const auto first = lease.question(at(100s));
  REQUIRE(first);
  CHECK_FALSE(lease.held(at(101s)));
  lease.answered(*first);  // However late that came.
  CHECK(lease.held(at(106s)));
  CHECK_FALSE(lease.held(at(107s)));
  CHECK(lease.over_at() == at(107s));
}

TEST_CASE("a lease is asked for each quarter of it, and at once when another may answer") {
  Lease lease(8s);
  lease.want(true);
  const auto first = lease.question(at(100s));
  CHECK_FALSE(lease.question(at(101s)));
  CHECK(lease.ask_at() == at(102s));
  lease.ask_at_once();
  const auto second = lease.question(at(101s));
  REQUIRE(second);
  CHECK(*second != *first);
  const auto third = lease.question(at(103s));
  REQUIRE(third);
  SECTION("answers count by their questions, in whatever order they come") {
    lease.answered(*third);
    lease.answered(*first);
    lease.answered(*second);
    CHECK(lease.over_at() == at(110s));
  }
  SECTION("an answer to nothing counts for nothing") {
    lease.answered(*third + 1);
    CHECK_FALSE(lease.held(at(103s)));
  }
}

TEST_CASE("what is given again is given after the lease, on a clock that is 3 % faster") {
  for (const Duration length : {Duration{100ms}, Duration{5s}, Duration{3600s}}) {
    const Duration by_a_fast_clock = length + length * 3 / 100;
    CHECK(reissue_after(length) > by_a_fast_clock);
    CHECK(reissue_after(length) < 2 * length);
  }
}
