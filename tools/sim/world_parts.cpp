#include "tools/sim/world_parts.hpp"

#include <algorithm>

namespace dag::sim {
namespace {

using test::RandomGraphOptions;

const std::vector<Part<WorldOptions>>& of_world() {
  static const std::vector<Part<WorldOptions>> all{
      {"deaths", [](WorldOptions& world) { world.deaths = 0, world.all_die = false; }},
      {"second_deaths", [](WorldOptions& world) { world.deaths = std::min(world.deaths, 1u); }},
      {"poison", [](WorldOptions& world) { world.poison = false; }},
      {"zombies", [](WorldOptions& world) { world.zombies = 0; }},
      {"late", [](WorldOptions& world) { world.late = 0; }},
      {"repeated", [](WorldOptions& world) { world.repeated = 0; }},
      {"cuts", [](WorldOptions& world) { world.replicas_cut = 0, world.replicas_lost = 0; }},
      {"one_way_cuts", [](WorldOptions& world) { world.cut_anyhow = false; }},
      {"pauses", [](WorldOptions& world) { world.pauses = 0; }},
      {"full_disks", [](WorldOptions& world) { world.disks_full = 0; }},
      {"moves", [](WorldOptions& world) { world.copies_move = false; }},
      {"cancels", [](WorldOptions& world) { world.cancels = false; }},
      {"stealing", [](WorldOptions& world) { world.steal = world.steal_attempts = false; }},
      {"stragglers", [](WorldOptions& world) { world.stragglers = 0; }},
      {"rings", [](WorldOptions& world) { world.rings = world.by_link = false; }},
      {"placing", [](WorldOptions& world) { world.by_finish = world.spread_actors = false; }},
      {"fetches", [](WorldOptions& world) { world.client_fetches = false; }},
      {"digests", [](WorldOptions& world) { world.digests_behind = false; }},
  };
  return all;
}

const std::vector<Part<RandomGraphOptions>>& of_graph() {
  static const std::vector<Part<RandomGraphOptions>> all{
      {"spawning", [](RandomGraphOptions& graph) { graph.spawn_depth_max = 0; }},
      {"actors", [](RandomGraphOptions& graph) { graph.actors_max = 0; }},
      {"failures", [](RandomGraphOptions& graph) { graph.failures = graph.retries = false; }},
      {"groups", [](RandomGraphOptions& graph) { graph.groups = false; }},
      {"saves", [](RandomGraphOptions& graph) { graph.checkpoints = false; }},
      {"conditions", [](RandomGraphOptions& graph) { graph.conditional = false; }},
      {"joins", [](RandomGraphOptions& graph) { graph.joins = false; }},
      {"quorums", [](RandomGraphOptions& graph) { graph.quorums = false; }},
      {"weak", [](RandomGraphOptions& graph) { graph.weak = false; }},
  };
  return all;
}

}  // namespace

const PartNames& parts_of_jobs() {
  static const PartNames names = names_of(of_world(), of_graph());
  return names;
}

void leave_out(const Case& about, WorldOptions& world) { leave_out(about, of_world(), world); }

void leave_out(const Case& about, RandomGraphOptions& graph) {
  leave_out(about, of_graph(), graph);
  if (about.tasks_max == 0) return;
  graph.tasks_max = std::min(graph.tasks_max, about.tasks_max);
  graph.tasks_min = std::min(graph.tasks_min, about.tasks_max);
}

}  // namespace dag::sim
