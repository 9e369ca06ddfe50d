#include "tools/sim/scale.hpp"

#include <algorithm>

#include "libdag/graph/partition.hpp"

namespace dag::sim {
namespace {

constexpr std::uint32_t random_inputs = 3;

/// The columns of the step before that a task needs.
std::vector<std::uint32_t> columns_before(const ScaleOptions& options, std::uint32_t columns,
                                          std::uint32_t column, Random& random) {
  if (options.pattern == "chains") return {column};
  std::vector<std::uint32_t> found;
  if (options.pattern == "stencil") {
    for (std::uint32_t near = column > 0 ? column - 1 : 0; near <= std::min(column + 1, columns - 1); ++near)
      found.push_back(near);
  } else {
    for (std::uint32_t i = 0; i < random_inputs; ++i)
      found.push_back(static_cast<std::uint32_t>(random.below(columns)));
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
  return found;
}

test::RandomGraph graph_of(const ScaleOptions& options) {
  Random random(1);
  const std::uint32_t columns = options.nodes * options.lanes_each * options.columns_per_lane;
  detail::Builder builder;
  test::RandomGraph graph;
  for (std::uint32_t step = 0; step < options.steps; ++step) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      builder.add_task("task", {reinterpret_cast<const void*>(test::value_thunk), nullptr}, true,
                       Effects::pure);
      graph.tasks.push_back({random.next()});
      Writer salt;
      dag::encode(salt, graph.tasks.back().salt);
      builder.add_literal(salt);
      if (step == 0) continue;
      for (const std::uint32_t before : columns_before(options, columns, column, random)) {
        builder.add_input((step - 1) * columns + before);
      }
    }
  }
  graph.fragment = builder.sealed();
  return graph;
}

}  // namespace

ScaleResult scale(const ScaleOptions& options) {
  Program program(graph_of(options));
  WorldOptions world_options;
  world_options.processes = world_options.shards = options.nodes;
  world_options.lanes = options.lanes_each;
  world_options.steal = world_options.spread_actors = world_options.listened = false;
  world_options.patience = std::chrono::hours(1);
  world_options.events_max = ~std::uint64_t{0};
  world_options.by_link = true;
  world_options.pace = options.pace;
  World world(world_options, program);
  world.run();

  ScaleResult result;
  result.tasks = program.graph().tasks.size();
  result.took = *world.last_ended - *world.first_began;
  const auto seconds = [](Duration duration) { return std::chrono::duration<double>(duration).count(); };
  result.efficiency = static_cast<double>(result.tasks) * seconds(options.pace.kernel) /
                      (seconds(result.took) * options.nodes * options.lanes_each);
  std::uint64_t most_bytes = 0, most_messages = 0;
  Duration busiest{0};
  for (const Carried& one : world.carried) {
    result.bytes += one.bytes;
    result.messages += one.messages;
    most_bytes = std::max(most_bytes, one.bytes);
    most_messages = std::max(most_messages, one.messages);
    busiest = std::max(busiest, one.busy);
  }
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  result.bytes_share = share(most_bytes, result.bytes);
  result.messages_share = share(most_messages, result.messages);
  result.graph_bytes = world.graph_bytes;
  const detail::Fragment& fragment = program.graph().fragment;
  result.edges = fragment.first_edge.back();
  result.edges_cut = quality(fragment, partition(fragment, options.nodes), options.nodes).edges_cut;
  result.control_busy = seconds(busiest) / seconds(result.took);
  return result;
}

}  // namespace dag::sim
