// The simulator finds bugs: each rule that can be left out on purpose is missed by some seed.
#include <catch2/catch.hpp>
#include <set>

#include "tests/support/sanitized.hpp"
#include "tools/sim/chaos.hpp"
#include "tools/sim/log_world.hpp"
#include "tools/sim/mutants.hpp"

using namespace dag;
using dag::test::sanitized;

namespace {

constexpr std::uint64_t clean_seeds = sanitized ? 100 : 300;
constexpr const char* no_bugs = "skipped: this build has no planted bugs; the presets dev and mutants have";

}  // namespace

TEST_CASE("nothing planted, nothing found") {
  sim::ChaosOptions cells;
  cells.cells = true;
  for (std::uint64_t seed = 1; seed <= clean_seeds; ++seed) {
    CHECK(sim::chaos(seed).violation == "");
    CHECK(sim::chaos(seed, cells).violation == "");
  }
}

TEST_CASE("a rule that is left out is missed") {
  if (!has_planted_bugs) {
    WARN(no_bugs);
    return;
  }
  for (const sim::Mutant& mutant : sim::mutants()) {
    if (mutant.world == "log" || mutant.is_inside) continue;  // log_test.cpp, and below
    CAPTURE(mutant.name);
    // Rare bugs take thousands of seeds: minutes under a sanitizer.
    static const std::set<std::string> rare_bugs{"old_news_by_lanes",    "told_is_told",
                                                 "fetch_mixes_attempts", "generation_ignored",
                                                 "mismatch_ignored",     "lease_not_looked_at"};
    const bool rare = rare_bugs.contains(mutant.name);
    if (!(sanitized && rare)) CHECK(sim::find(mutant, 60'000));
  }
}

TEST_CASE("a machine finds the rule that it broke itself") {
  if (!has_planted_bugs) {
    WARN(no_bugs);
    return;
  }
  for (const sim::Mutant& mutant : sim::mutants()) {
    if (!mutant.is_inside) continue;
    CAPTURE(mutant.name);
    const auto found = sim::find(mutant, 2000);
    REQUIRE(found);
    CAPTURE(found->violation);
    CHECK(found->violation.starts_with("libdag bug: "));
    CHECK(found->violation.find("invariants.cpp") != std::string::npos);
  }
}

TEST_CASE("one seed, one history") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(sim::chaos(seed).trace_hash == sim::chaos(seed).trace_hash);
  }
}

TEST_CASE("a seed is as large as somebody wants it") {
  constexpr sim::ChaosSize size{.nodes = 5, .tasks_min = 20};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    CHECK(sim::chaos_program(seed, {}, size.tasks_min)->size() >= size.tasks_min);
    for (const bool cells : {false, true}) {
      CAPTURE(cells);
      sim::WorldOptions world = cells ? sim::cells_world(seed) : sim::chaos_world(seed);
      sim::set_nodes(world, size.nodes);
      CHECK(world.processes == 5);
      CHECK(world.replicas < (world.cell_runs ? 6 : 5));
      sim::ChaosOptions options;
      options.cells = cells;
      options.size = size;
      CHECK(sim::chaos(seed, options).violation == "");
    }
  }
}

TEST_CASE("a seed that fails is made smaller, and fails in the same way") {
  if (!has_planted_bugs) {
    WARN(no_bugs);
    return;
  }
  sim::ChaosOptions planted;
  planted.planted.home = PlantedInHome::edge_counted_twice;
  const auto run = [&](const sim::Case& about) {
    sim::ChaosOptions options = planted;
    options.about = about;
    return sim::chaos(about.seed, options);
  };
  std::uint64_t seed = 1;
  while (run({seed, {}, 0}).violation.empty()) REQUIRE(++seed < 20'000);
  const sim::Case smallest = sim::shrink({seed, {}, 0}, sim::parts_of_jobs(), run);
  CHECK(smallest.without.size() > 5);
  CHECK(smallest.tasks_max > 0);
  CHECK_FALSE(run(smallest).violation.empty());
  CHECK(sim::parse_case(sim::to_string(smallest), sim::parts_of_jobs()) == smallest);
  CHECK_FALSE(sim::parse_case("7-nothing_of_that_name", sim::parts_of_jobs()));
  CHECK_FALSE(sim::parse_case("7-rot", sim::parts_of_jobs()));
  CHECK_FALSE(sim::parse_case("7<0", sim::parts_of_jobs()));
  CHECK_FALSE(sim::parse_case("-late", sim::parts_of_jobs()));
}

TEST_CASE("a seed of a log that fails is made smaller, too") {
  if (!has_planted_bugs) {
    WARN(no_bugs);
    return;
  }
  const auto run = [](const sim::Case& about) {
    return sim::log_chaos(about.seed, consensus::Planted::minority_settles, false, about);
  };
  std::uint64_t seed = 1;
  while (run({seed, {}, 0}).violation.empty()) REQUIRE(++seed < 20'000);
  const sim::Case smallest = sim::shrink({seed, {}, 0}, sim::parts_of_log(), run);
  CHECK(smallest.without.size() > 5);
  CHECK_FALSE(run(smallest).violation.empty());
  CHECK(sim::parse_case(sim::to_string(smallest), sim::parts_of_log()) == smallest);
}
