#include "tools/sim/shrink.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "tools/sim/number.hpp"

namespace dag::sim {
namespace {

using test::RandomGraphOptions;

struct LeavesOut {
  const char* name;
  void (*of_world)(WorldOptions&);
  void (*of_graph)(RandomGraphOptions&);
};

/// What explains most when it is not needed comes first.
const std::vector<LeavesOut>& parts() {
  constexpr auto no_world = +[](WorldOptions&) {};
  constexpr auto no_graph = +[](RandomGraphOptions&) {};
  static const std::vector<LeavesOut> all{
      {"deaths", [](WorldOptions& world) { world.deaths = 0, world.all_die = false; }, no_graph},
      {"second_deaths", [](WorldOptions& world) { world.deaths = std::min(world.deaths, 1u); }, no_graph},
      {"poison", [](WorldOptions& world) { world.poison = false; }, no_graph},
      {"zombies", [](WorldOptions& world) { world.zombies = 0; }, no_graph},
      {"late", [](WorldOptions& world) { world.late = 0; }, no_graph},
      {"repeated", [](WorldOptions& world) { world.repeated = 0; }, no_graph},
      {"cuts", [](WorldOptions& world) { world.replicas_cut = 0, world.replicas_lost = 0; }, no_graph},
      {"one_way_cuts", [](WorldOptions& world) { world.cut_anyhow = false; }, no_graph},
      {"pauses", [](WorldOptions& world) { world.pauses = 0; }, no_graph},
      {"full_disks", [](WorldOptions& world) { world.disks_full = 0; }, no_graph},
      {"moves", [](WorldOptions& world) { world.copies_move = false; }, no_graph},
      {"cancels", [](WorldOptions& world) { world.cancels = false; }, no_graph},
      {"stealing", [](WorldOptions& world) { world.steal = world.steal_attempts = false; }, no_graph},
      {"stragglers", [](WorldOptions& world) { world.stragglers = 0; }, no_graph},
      {"rings", [](WorldOptions& world) { world.rings = world.by_link = false; }, no_graph},
      {"placing", [](WorldOptions& world) { world.by_finish = world.spread_actors = false; }, no_graph},
      {"fetches", [](WorldOptions& world) { world.client_fetches = false; }, no_graph},
      {"digests", [](WorldOptions& world) { world.digests_behind = false; }, no_graph},
      {"spawning", no_world, [](RandomGraphOptions& graph) { graph.spawn_depth_max = 0; }},
      {"actors", no_world, [](RandomGraphOptions& graph) { graph.actors_max = 0; }},
      {"failures", no_world, [](RandomGraphOptions& graph) { graph.failures = graph.retries = false; }},
      {"groups", no_world, [](RandomGraphOptions& graph) { graph.groups = false; }},
      {"saves", no_world, [](RandomGraphOptions& graph) { graph.checkpoints = false; }},
      {"conditions", no_world, [](RandomGraphOptions& graph) { graph.conditional = false; }},
      {"joins", no_world, [](RandomGraphOptions& graph) { graph.joins = false; }},
      {"quorums", no_world, [](RandomGraphOptions& graph) { graph.quorums = false; }},
      {"weak", no_world, [](RandomGraphOptions& graph) { graph.weak = false; }},
  };
  return all;
}

std::string kind(const std::string& violation) {
  std::string kind = violation.substr(0, violation.find('\n'));
  std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0; });
  return kind;
}

}  // namespace

std::string to_string(const Case& about) {
  std::string text = std::to_string(about.seed);
  for (const std::string& part : about.without) text += "-" + part;
  if (about.tasks_max > 0) text += "<" + std::to_string(about.tasks_max);
  return text;
}

std::optional<Case> parse_case(std::string_view text) {
  Case about;
  if (const std::size_t less = text.find('<'); less != text.npos) {
    if (!parse(text.substr(less + 1), about.tasks_max) || about.tasks_max == 0) return std::nullopt;
    text = text.substr(0, less);
  }
  const std::size_t seed_end = std::min(text.find('-'), text.size());
  if (!parse(text.substr(0, seed_end), about.seed)) return std::nullopt;
  for (text.remove_prefix(seed_end); !text.empty();) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('-'), text.size());
    const std::string name(text.substr(0, end));
    if (std::none_of(parts().begin(), parts().end(),
                     [&](const LeavesOut& part) { return part.name == name; }))
      return std::nullopt;
    about.without.insert(name);
    text.remove_prefix(end);
  }
  return about;
}

void leave_out(const Case& about, WorldOptions& world) {
  for (const LeavesOut& part : parts()) {
    if (about.without.contains(part.name)) part.of_world(world);
  }
}

void leave_out(const Case& about, RandomGraphOptions& graph) {
  for (const LeavesOut& part : parts()) {
    if (about.without.contains(part.name)) part.of_graph(graph);
  }
  if (about.tasks_max > 0) graph.tasks_max = std::min(graph.tasks_max, about.tasks_max);
}

Case shrink(const Case& failing, const std::function<ChaosResult(const Case&)>& run) {
  const std::string wanted = kind(run(failing).violation);
  const auto still = [&](const Case& one) { return kind(run(one).violation) == wanted; };
  Case smallest = failing;
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const LeavesOut& part : parts()) {
      Case less = smallest;
      if (!less.without.insert(part.name).second || !still(less)) continue;
      smallest = less;
      shrunk = true;
    }
    const std::uint32_t tasks_now = smallest.tasks_max == 0 ? 100 : smallest.tasks_max;
    for (std::uint32_t tasks = 1; tasks < tasks_now; ++tasks) {
      Case less = smallest;
      less.tasks_max = tasks;
      if (!still(less)) continue;
      smallest = less;
      shrunk = true;
      break;
    }
  }
  return smallest;
}

}  // namespace dag::sim
