// Whole nodes with their real actors under faults, on one thread: every job ends as it must, one seed is one
// history, and what is planted is found.
#include <catch2/catch.hpp>
#include <set>

#include "tests/support/sanitized.hpp"
#include "tools/sim/actors/actors_chaos.hpp"

using namespace dag;
using dag::test::sanitized;

TEST_CASE("jobs of whole nodes end as they must, whatever happens to these, and all that can does") {
  std::map<std::string, std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= (sanitized ? 100 : 400); ++seed) {
    const sim::ChaosResult result = sim::actors_chaos(seed);
    CAPTURE(seed);
    REQUIRE(result.violation == "");
    for (const auto& [what, count] : result.seen) seen[what] += count;
  }
  const std::set<std::string> expected{"a client follows its job to another node",
                                       "a job ended well",
                                       "a job moved",
                                       "cut",
                                       "ghost ended by a lane",
                                       "kernel crashed",
                                       "link lost",
                                       "node crashed",
                                       "node down: found dead by another process",
                                       "node down: its process died",
                                       "power cut",
                                       "process paused",
                                       "run again",
                                       "told by a lane through a link",
                                       "worker process killed"};
  for (const std::string& what : expected) {
    CAPTURE(what);
    CHECK(seen[what] > 0);
  }
}

TEST_CASE("one seed of whole nodes, one history") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(sim::actors_chaos(seed).trace_hash == sim::actors_chaos(seed).trace_hash);
  }
}

TEST_CASE("each bug that is planted around the actors is found") {
  if (sanitized) return;  // The rare ones take thousands of seeds.
  for (const sim::Mutant& mutant : sim::actors_mutants()) {
    CAPTURE(mutant.name);
    CHECK(sim::find(mutant, 20'000));
  }
}

TEST_CASE("a seed of nodes that fails is made smaller, and fails in the same way") {
  const auto run = [](const sim::Case& about) {
    return sim::actors_chaos(about.seed, false, sim::PlantedAround::end_not_told, about);
  };
  std::uint64_t seed = 1;
  while (run({seed, {}, 0}).violation.empty()) REQUIRE(++seed < 1000);
  const sim::Case smallest = sim::shrink({seed, {}, 0}, sim::parts_of_actors(), run);
  CHECK(smallest.without.size() > 5);
  CHECK(smallest.tasks_max > 0);
  CHECK_FALSE(run(smallest).violation.empty());
  CHECK(sim::parse_case(sim::to_string(smallest), sim::parts_of_actors()) == smallest);
}
