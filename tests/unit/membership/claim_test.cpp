// Claims about one process form a total order, so all processes that have talked believe the same.
#include "libdag/membership/claim.hpp"

#include <catch2/catch.hpp>

#include "libdag/base/check.hpp"
#include "libdag/base/random.hpp"

using namespace dag;

namespace {

/// Few values of each kind, so that ties are common.
Claim random_claim(Random& random) {
  Claim claim{.life = {ProcessId{3}, Incarnation{static_cast<std::uint32_t>(random.below(3))}},
              .state = static_cast<MemberState>(random.below(4)),
              .beat = random.below(3)};
  claim.endpoint.control = random.chance(0.9) ? "a:1" : "b:1";
  if (random.chance(0.3)) {
    claim.load.devices.push_back({.kind = "cpu",
                                  .lanes = static_cast<std::uint32_t>(random.below(2)),
                                  .backlog = Duration(random.below(2))});
  }
  claim.load.tasks_ready = static_cast<std::uint32_t>(random.below(2));
  return claim;
}

Claim claim_of(std::uint32_t incarnation, MemberState state, std::uint64_t beat) {
  return {.life = {ProcessId{3}, Incarnation{incarnation}}, .state = state, .beat = beat};
}

}  // namespace

TEST_CASE("stronger commutes, associates and is idempotent for random triples") {
  Random random(GENERATE(range(0u, 20u)));
  for (int triple = 0; triple < 500; ++triple) {
    const Claim a = random_claim(random), b = random_claim(random), c = random_claim(random);
    REQUIRE(stronger(a, b) == stronger(b, a));
    REQUIRE(stronger(stronger(a, b), c) == stronger(a, stronger(b, c)));
    REQUIRE(stronger(a, a) == a);
    REQUIRE((stronger(a, b) == a || stronger(a, b) == b));
    // A total order: exactly one of less, greater, equal.
    REQUIRE((a < b) + (b < a) + (a == b) == 1);
  }
}

TEST_CASE("which claim holds") {
  struct Row {
    Claim weaker, stronger;
  };
  using enum MemberState;
  const auto row = GENERATE(
      Row{claim_of(1, left, 9), claim_of(2, alive, 0)},     // Only a new incarnation ends a death.
      Row{claim_of(1, alive, 5), claim_of(1, suspect, 5)},  // On a tie the worse news.
      Row{claim_of(1, suspect, 5), claim_of(1, alive, 6)},  // A later beat refutes a suspicion.
      Row{claim_of(1, alive, 9), claim_of(1, dead, 5)},     // The dead do not come back, whatever they say.
      Row{claim_of(1, suspect, 5), claim_of(1, dead, 5)},
      Row{claim_of(1, dead, 9), claim_of(1, left, 5)});  // Its own word that it went.
  CHECK(stronger(row.weaker, row.stronger) == row.stronger);
  CHECK(stronger(row.stronger, row.weaker) == row.stronger);
}

TEST_CASE("claims of two processes are not compared") {
  Claim other = claim_of(1, MemberState::alive, 0);
  other.life.process.value = 4;
  CHECK_THROWS_AS(stronger(other, claim_of(1, MemberState::alive, 0)), Bug);
}
