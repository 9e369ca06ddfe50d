// Copies of a log under faults: nothing that was settled is ever contradicted, and the simulator would see it
// if it were.
#include <catch2/catch.hpp>

#include "tests/support/sanitized.hpp"
#include "tools/sim/log_world.hpp"
#include "tools/sim/mutants.hpp"
#include "tools/sim/sometimes.hpp"

using namespace dag;
using dag::test::sanitized;

TEST_CASE("a log survives what happens to its copies, and all that can say no does") {
  std::map<std::string, std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= (sanitized ? 100 : 2000); ++seed) {
    const sim::ChaosResult result = sim::log_chaos(seed);
    CAPTURE(seed);
    REQUIRE(result.violation == "");
    for (const auto& [what, count] : result.seen) seen[what] += count;
  }
  if (!sanitized) CHECK(sim::never_seen("log", seen) == std::vector<std::string>{});
}

TEST_CASE("one seed of a log, one history") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(sim::log_chaos(seed).trace_hash == sim::log_chaos(seed).trace_hash);
  }
}

TEST_CASE("each bug that is planted into a log is found") {
  if (!has_planted_bugs) {
    WARN("skipped: this build has no planted bugs; the preset mutants has");
    return;
  }
  if (sanitized) return;  // A planted bug may break anything; and the rare ones take thousands of seeds.
  for (const sim::Mutant& mutant : sim::mutants()) {
    if (mutant.world != "log" || mutant.is_inside) continue;
    CAPTURE(mutant.name);
    CHECK(sim::find(mutant, 40'000));
  }
}
