#pragma once
// A seed of chaos: its job, its number of processes, its faults. The options are drawn from the seed, each
// kind of fault in some seeds and not in others, because a fault that is always there hides what happens
// without it.

#include <array>

#include "tools/sim/stages.hpp"
#include "tools/sim/world.hpp"
#include "tools/sim/world_parts.hpp"

namespace dag::sim {

/// The size of a seed in place of the drawn one; its other draws stay as they are.
struct ChaosSize {
  std::uint32_t nodes = 0;      ///< processes; 0: as drawn
  std::uint32_t tasks_min = 0;  ///< of the graph, or of all steps of a training
  bool operator==(const ChaosSize&) const = default;
};
/// Three replicas, and a process that runs the tasks they record.
inline constexpr std::uint32_t chaos_nodes_min = 4;

struct ChaosOptions {
  bool cells = false;  ///< cells_world
  PlantedBugs planted = {};
  bool trace = false;
  Case about;  ///< parts left out of the seed; its number is ignored
  ChaosSize size;
};

/// A third of the seeds have kernels that give another value with each attempt.
inline bool chaos_varies(std::uint64_t seed) { return seed % 3 == 0; }
inline bool chaos_says_that_it_varies(std::uint64_t seed) { return seed % 6 == 0; }

/// A quarter of the seeds place attempts as real homes do; none of those in tests/sim/seeds.txt.
inline bool chaos_places_by_finish(std::uint64_t seed) { return seed % 4 == 1; }

/// In three eighths of the seeds lanes tell each other of ends; in none of those in tests/sim/seeds.txt.
inline bool chaos_has_rings(std::uint64_t seed) { return seed % 4 == 1 || seed % 8 == 2; }

/// In five sixteenths of the seeds, with rings and without; in none of those in tests/sim/seeds.txt.
inline bool chaos_digests_behind(std::uint64_t seed) {
  return seed % 8 == 5 || seed % 16 == 0 || seed % 16 == 3 || seed % 16 == 15;
}

/// In a quarter of the seeds some tasks save their state; in none of those in tests/sim/seeds.txt.
inline bool chaos_saves(std::uint64_t seed) {
  const std::uint64_t which = seed % 16;
  return which == 1 || which == 2 || which == 3 || which == 5;
}

/// In a quarter of the seeds some tasks are in groups; in none of those in tests/sim/seeds.txt.
inline bool chaos_has_groups(std::uint64_t seed) {
  const std::uint64_t which = seed % 16;
  return which == 0 || which == 5 || which == 9 || which == 10;
}

/// In a quarter of the seeds tasks spawn on little credit; in none of those in tests/sim.
inline bool chaos_has_little_credit(std::uint64_t seed) {
  const std::uint64_t which = seed % 31;
  return which == 0 || which == 4 || which == 7 || which == 8 || which == 12 || which == 19 || which == 20 ||
         which == 23;
}

/// A tenth of the seeds have tasks that may run only once; none of those in tests/sim/seeds.txt.
inline bool chaos_runs_once(std::uint64_t seed) { return seed % 10 == 9; }

/// In a tenth of the seeds some tasks must not run twice at a time; in none of those in tests/sim/seeds.txt.
inline bool chaos_excludes(std::uint64_t seed) { return seed % 10 == 1 && seed != 39051; }

/// In a fifth of the seeds thieves get attempts, too; in none of those in tests/sim/seeds.txt.
inline bool chaos_steals_attempts(std::uint64_t seed) { return seed % 10 == 5 || chaos_excludes(seed); }

/// In two thirteenths of the seeds some kernels run for seconds; in none of those in tests/sim/seeds.txt.
inline bool chaos_has_stragglers(std::uint64_t seed) { return seed % 13 < 2; }

/// In two elevenths of the seeds; in none of those in tests/sim/seeds.txt.
inline bool chaos_quarantines(std::uint64_t seed) { return seed % 11 == 0 || seed % 11 == 2; }

/// In two fifths of the seeds; in none of those in tests/sim/cells_seeds.txt.
inline bool chaos_cuts_anyhow(std::uint64_t seed) { return seed % 5 < 2; }

/// In three eighths of the seeds.
inline bool chaos_moves_copies(std::uint64_t seed) { return seed % 8 == 3 || seed % 8 == 4 || seed % 8 == 6; }

/// In a quarter of the seeds saves of job actors may be left out; in none of those in tests/sim/seeds.txt.
inline bool chaos_leaves_out_saves(std::uint64_t seed) {
  const std::uint64_t which = seed % 17;
  return which == 6 || which == 12 || which > 13;
}

/// In four nineteenths of the seeds; in none of those in tests/sim/seeds.txt and cells_seeds.txt.
inline bool chaos_clocks_differ(std::uint64_t seed) {
  const std::uint64_t which = seed % 19;
  return which == 8 || which == 10 || which == 13 || which == 14;
}

/// In eight of 23 seeds; in none of those in tests/sim/cells_seeds.txt.
inline bool chaos_bounds_bytes(std::uint64_t seed) {
  const std::uint64_t which = seed % 23;
  return which == 3 || which == 4 || which == 7 || which == 10 || which == 11 || which == 13 || which == 14 ||
         which == 16;
}

/// Additions to the drawing get a Random of their own, so that the seeds of tests/sim/seeds.txt keep their
/// histories.
inline WorldOptions chaos_world(std::uint64_t seed) {
  Random random(seed * 5 + 3);
  WorldOptions world;
  world.seed = seed;
  world.processes = 3 + static_cast<std::uint32_t>(random.below(3));
  world.lanes = 1 + static_cast<std::uint32_t>(random.below(3));
  world.shards = 1 + static_cast<std::uint32_t>(random.below(2 * world.processes));
  world.representation = random.chance(0.3) ? Representation::supervised : Representation::as_needed;
  world.inline_bytes_max = random.chance(0.5) ? 0 : 4096;
  world.steal = random.chance(0.7);
  world.spread_actors = random.chance(0.5);
  world.late = random.chance(0.7) ? 0.2 * random.unit() : 0;
  world.repeated = random.chance(0.7) ? 0.2 * random.unit() : 0;
  world.deaths = random.chance(0.85) ? 1 + static_cast<std::uint32_t>(random.below(5)) : 0;
  world.zombies = random.chance(0.5) ? random.unit() : 0;
  world.rejoin = random.chance(0.8);
  world.varying = chaos_varies(seed);
  world.says_varying = chaos_says_that_it_varies(seed);
  // Values must be seen to be checked; but values in a record need not be made again.
  const bool unseen = !world.says_varying && Random(seed * 103 + 3).chance(0.1);
  if (world.varying) world.inline_bytes_max = unseen ? 0 : 4096;
  Random forms(seed * 11 + 9);
  world.client_fetches = forms.chance(0.3);
  if (forms.below(3) == 0) {
    world.cell_runs = false;
    world.workers_late = forms.chance(0.2);
    world.all_die = forms.chance(0.4);
    world.rejoin = true;  // A process has to come back.
  }
  Random poison(seed * 13 + 11);
  world.poison = poison.chance(0.3);
  world.quarantine = world.cell_runs && chaos_quarantines(seed);
  world.poison = world.poison || world.quarantine;
  world.by_finish = chaos_places_by_finish(seed);
  world.rings = chaos_has_rings(seed);
  if (world.rings) {
    // Several shards per process or about one; and values that go with the news of an end, mostly.
    Random rings(seed * 19 + 7);
    world.shards = std::max(world.shards, 2 + static_cast<std::uint32_t>(rings.below(world.processes)));
    if (rings.chance(0.7)) world.inline_bytes_max = 4096;
    if (rings.chance(0.7)) world.representation = Representation::as_needed;
    if (rings.chance(0.5)) world.steal = world.spread_actors = false;
    if (!world.varying && rings.chance(0.4)) {
      world.inline_bytes_max = 0;
      world.shared_memory = true;
    }
    world.by_link = rings.chance(0.5);
  }
  world.digests_behind = chaos_digests_behind(seed);
  world.listened = seed % 8 < 3;
  if (chaos_has_little_credit(seed)) world.spawn_credit.tasks = 1 + Random(seed * 103 + 41).below(6);
  world.once = chaos_runs_once(seed);
  world.steal_attempts = chaos_steals_attempts(seed);
  Random leases(seed * 31 + 5);
  world.lease = std::chrono::milliseconds(30 + leases.below(300));
  if (chaos_clocks_differ(seed)) world.drift_ppm = 10'000;
  // Jobs are short here: with the interval of real ones most of them would end in their first few cuts.
  world.cut_interval = cut_interval / std::array{1, 2, 5}[Random(seed * 97 + 31).below(3)];
  if (Random(seed * 101 + 37).chance(0.5)) world.small_plan_bytes_max = 0;  // All are large.
  world.cancels = seed % 10 == 7;  // None of those in tests/sim/seeds.txt.
  // Short jobs: faults have to come early to meet them.
  world.calm_at = Instant{std::chrono::milliseconds(20 + random.below(800))};
  if (chaos_has_stragglers(seed)) {
    Random stragglers(seed * 43 + 19);
    world.steal = world.steal_attempts = true;
    world.stragglers = 1 + static_cast<std::uint32_t>(stragglers.below(3));
    world.lanes = stragglers.chance(0.7) ? 1 : 2;  // So that something waits behind them.
    // Up to some hundred milliseconds under way.
    if (stragglers.chance(0.7)) world.outputs_times_larger = std::uint64_t{1} << stragglers.below(27);
  }
  return world;
}

/// The same, with replicas of the record, any of which may die.
inline WorldOptions cells_world(std::uint64_t seed) {
  WorldOptions world = chaos_world(seed);
  Random random(seed * 29 + 13);
  world.replicas = random.chance(0.8) ? 3 : 5;
  world.processes = std::max(world.processes, world.replicas);
  if (!world.cell_runs) world.processes = world.replicas + 1 + static_cast<std::uint32_t>(random.below(3));
  world.rejoin = true;  // A majority has to come back.
  world.quarantine = false;
  world.aim = random.chance(0.5) ? 0.6 : 0;
  world.replicas_lost = random.chance(0.5) ? 0.2 * random.unit() : 0;
  world.replicas_cut = random.chance(0.5) ? 1 + static_cast<std::uint32_t>(random.below(4)) : 0;
  world.cut_anyhow = chaos_cuts_anyhow(seed);
  // An exclusive task may run on at a process that was stopped (nodes/PROMISES.md).
  if (seed % 5 == 0) world.pauses = static_cast<std::uint32_t>(Random(seed * 61 + 3).below(3));
  world.until_copied = seed % 4 == 3;
  world.copies_move = chaos_moves_copies(seed);
  if (chaos_cuts_anyhow(seed)) world.disks_full = static_cast<std::uint32_t>(Random(seed * 73 + 1).below(3));
  CellReplicaOptions& replica = world.replica;
  replica.copies_wanted = world.replicas;
  replica.compact_every = random.chance(0.5) ? 1 + random.below(20) : 4096;
  replica.log.election_timeout = std::chrono::milliseconds(60 + random.below(300));
  replica.log.heartbeat = replica.log.election_timeout / 5;
  replica.log.rest_timeout = 12 * replica.log.election_timeout;
  replica.log.rest_heartbeat = replica.log.rest_timeout / 3;
  if (random.chance(0.5)) replica.log.entries_per_append_max = 1 + random.below(3);
  if (random.chance(0.5)) replica.log.snapshot_piece_bytes = 64 + random.below(4000);
  if (chaos_bounds_bytes(seed)) {
    Random sizes(seed * 83 + 5);
    if (sizes.chance(0.6)) replica.compact_bytes = 1 + sizes.below(4000);
    if (sizes.chance(0.6)) replica.log.bytes_in_flight_max = 1 + sizes.below(2000);
  }
  return world;
}

inline void set_nodes(WorldOptions& world, std::uint32_t nodes) {
  world.processes = nodes;
  if (world.replicas > (world.cell_runs ? nodes : nodes - 1)) world.replicas = 3;
  if (world.replicas > 1) world.replica.copies_wanted = world.replicas;
}

inline std::unique_ptr<Program> chaos_program(std::uint64_t seed, const Case& about,
                                              std::uint32_t tasks_min = 0) {
  Random random(seed * 7 + 5);
  if (!chaos_varies(seed) && !chaos_runs_once(seed) && !chaos_excludes(seed) && random.chance(0.3))
    return Stages(random, {.tasks_min = tasks_min, .saves_left_out = chaos_leaves_out_saves(seed)}).program();
  test::RandomGraphOptions options;
  options.tasks_max = 5 + static_cast<std::uint32_t>(random.below(40));
  options.varying = chaos_says_that_it_varies(seed);
  options.actors_max = random.chance(0.5) ? 3 : 0;
  options.spawn_depth_max = static_cast<std::uint32_t>(random.below(3));
  options.weak = random.chance(0.8);
  options.conditional = random.chance(0.8);
  options.failures = random.chance(0.8);
  options.once = chaos_runs_once(seed);
  options.exclusive = chaos_excludes(seed);
  options.checkpoints = chaos_saves(seed);
  options.groups = chaos_has_groups(seed);
  if (chaos_has_rings(seed) && seed % 3 != 1) {
    // Lanes tell each other of plain rows: here most are.
    options.joins = options.quorums = options.conditional = options.failures = false;
    options.weak = seed % 3 == 0;
    options.tasks_max *= 2;
  }
  options.tasks_min = std::max(tasks_min, options.tasks_min);
  leave_out(about, options);
  return std::make_unique<Program>(test::random_graph(random, options));
}

inline ChaosResult chaos(std::uint64_t seed, const ChaosOptions& options = {}) {
  ChaosResult result;
  result.seed = seed;
  const std::unique_ptr<Program> program = chaos_program(seed, options.about, options.size.tasks_min);
  WorldOptions world_options = options.cells ? cells_world(seed) : chaos_world(seed);
  if (options.size.nodes > 0) set_nodes(world_options, options.size.nodes);
  leave_out(options.about, world_options);
  world_options.planted = options.planted;
  world_options.replica.planted = options.planted.replica;
  world_options.replica.planted_in_cell = options.planted.cell;
  world_options.trace = options.trace;
  World world(world_options, *program);
  try {
    world.run();
  } catch (const std::exception& error) {
    result.violation = error.what();
  }
  result.events = world.events;
  result.trace_hash = world.trace_hash();
  result.seen = world.seen;
  return result;
}

}  // namespace dag::sim
