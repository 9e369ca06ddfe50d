#include "tools/sim/actors/actors_chaos.hpp"

#include <algorithm>

#include "tools/sim/actors/cluster.hpp"
#include "tools/sim/chaos.hpp"

namespace dag::sim {
namespace {

const std::vector<Part<ClusterOptions>>& of_cluster() {
  using Options = ClusterOptions;
  static const std::vector<Part<Options>> all{
      {"power_cuts", [](Options& all_of) { all_of.faults.power_cuts = 0; }},
      {"crashes", [](Options& all_of) { all_of.faults.nodes_crashed = 0; }},
      {"disks_lost", [](Options& all_of) { all_of.faults.disks_lost = 0; }},
      {"killed_workers", [](Options& all_of) { all_of.faults.workers_killed = 0; }},
      {"poison", [](Options& all_of) { all_of.lanes.crashes = false; }},
      {"cuts", [](Options& all_of) { all_of.faults.cuts = 0; }},
      {"flaps", [](Options& all_of) { all_of.faults.flaps = 0; }},
      {"pauses", [](Options& all_of) { all_of.faults.pauses = 0; }},
      {"cancels", [](Options& all_of) { all_of.cancels = false; }},
      {"late", [](Options& all_of) { all_of.network.late = 0; }},
      {"links", [](Options& all_of) { all_of.lanes.tell_by_link = false; }},
      {"other_clients", [](Options& all_of) { all_of.clients = 1; }},
      {"other_lanes", [](Options& all_of) { all_of.lanes.lanes = 1; }},
  };
  return all;
}

const std::vector<Part<test::RandomGraphOptions>>& of_graph() {
  using Options = test::RandomGraphOptions;
  static const std::vector<Part<Options>> all{
      {"spawning", [](Options& graph) { graph.spawn_depth_max = 0; }},
      {"actors", [](Options& graph) { graph.actors_max = 0; }},
      {"saves", [](Options& graph) { graph.checkpoints = false; }},
      {"leases", [](Options& graph) { graph.exclusive = false; }},
  };
  return all;
}

std::unique_ptr<Program> program_of(Random& random, std::uint64_t seed, const Case& about) {
  test::RandomGraphOptions options;
  options.tasks_max = 3 + static_cast<std::uint32_t>(random.below(25));
  options.actors_max = random.chance(0.4) ? 2 : 0;
  options.spare_attempts = 20;
  options.checkpoints = random.chance(0.3);
  options.exclusive = seed % 5 == 2;
  options.spawn_depth_max = static_cast<std::uint32_t>(random.below(2));
  leave_out(about, of_graph(), options);
  if (about.tasks_max > 0) options.tasks_max = std::min(options.tasks_max, about.tasks_max);
  return std::make_unique<Program>(test::random_graph(random, options));
}

ClusterOptions options_of(std::uint64_t seed) {
  Random random(seed * 5 + 3);
  ClusterOptions options;
  options.seed = seed;
  options.nodes = 1 + static_cast<std::uint32_t>(random.below(5));
  options.clients = 1 + static_cast<std::uint32_t>(random.below(3));
  options.clients_come = std::chrono::milliseconds(random.below(3000));
  options.supervise_all = random.chance(0.2);
  options.lanes.lanes = 1 + static_cast<std::uint32_t>(random.below(3));
  options.lanes.tell_by_link = random.chance(0.5);
  // Some jobs last as long as it takes to lose a node and to go on without it.
  options.lanes.slow = random.chance(0.5) ? 1 + static_cast<std::uint32_t>(random.below(60)) : 1;
  options.network.late = random.chance(0.5) ? 0.1 * random.unit() : 0;
  options.network.control_bytes_max = random.chance(0.5) ? 64 + random.below(2000) : 1u << 20;
  options.lanes.crashes = random.chance(0.3);
  ClusterFaults& faults = options.faults;
  // Short jobs: most faults have to come early to meet them.
  faults.calm_at =
      std::chrono::milliseconds(random.chance(0.6) ? 1000 + random.below(3000) : random.below(30'000));
  const auto count = [&random](double chance, std::uint64_t most) {
    return random.chance(chance) ? 1 + static_cast<std::uint32_t>(random.below(most)) : 0;
  };
  faults.workers_killed = count(0.4, 4);
  faults.nodes_crashed = count(0.5, 4);
  faults.power_cuts = count(0.1, 2);
  faults.disks_lost = random.chance(0.4) ? 1 : 0;
  // The first node to come back, without its memory, would give out handles that only other nodes know.
  if (faults.power_cuts > 0) faults.disks_lost = 0;
  faults.cuts = count(0.3, 3);
  faults.flaps = count(0.3, 5);
  faults.pauses = count(0.3, 4);
  options.sync_max = std::chrono::microseconds(random.chance(0.3) ? random.below(100'000) : 2000);
  // Not for seeds of tests/sim/actors_seeds.txt. A job that is not cancelled takes much longer than all nodes
  // need to hear of a cancel.
  options.cancels = seed % 8 == 5;
  if (chaos_has_little_credit(seed)) options.lanes.spawn_credit.tasks = 1 + Random(seed * 103 + 41).below(6);
  if (options.cancels) {
    options.lanes.takes_more = std::chrono::seconds(10);
    faults.calm_at = std::min<Duration>(faults.calm_at, std::chrono::seconds(3));
  }
  return options;
}

}  // namespace

std::vector<Mutant> actors_mutants() {
  std::vector<Mutant> list;
#define IN_ACTORS(bug)                                                    \
  list.push_back({#bug, "actors", {}, [](std::uint64_t seed) {            \
                    return actors_chaos(seed, false, PlantedAround::bug); \
                  }})
  IN_ACTORS(written_early);
  IN_ACTORS(link_forgets);
  IN_ACTORS(same_life);
  IN_ACTORS(end_not_told);
  IN_ACTORS(places_untold);
  IN_ACTORS(two_geneses);
  IN_ACTORS(nobody_seems_busy);
#undef IN_ACTORS
  return list;
}

const PartNames& parts_of_actors() {
  static const PartNames names = names_of(of_cluster(), of_graph());
  return names;
}

ChaosResult actors_chaos(std::uint64_t seed, bool trace, PlantedAround planted, const Case& about) {
  ChaosResult result;
  result.seed = seed;
  ClusterOptions options = options_of(seed);
  options.trace = trace;
  options.planted = planted;
  leave_out(about, of_cluster(), options);
  Random random(seed * 7 + 5);
  std::vector<std::unique_ptr<Program>> programs;
  for (std::uint32_t i = 0; i < options.clients; ++i) programs.push_back(program_of(random, seed, about));
  Cluster cluster(options, std::move(programs));
  try {
    cluster.run();
  } catch (const std::exception& error) {
    result.violation = error.what();
  }
  result.events = cluster.steps();
  result.trace_hash = cluster.ledger().hash();
  result.seen = cluster.ledger().seen();
  return result;
}

}  // namespace dag::sim
