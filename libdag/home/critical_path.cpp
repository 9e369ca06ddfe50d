// About how long the rest of the job takes with any number of lanes: the longest way through the graph, by
// how long tasks of each name usually take, from a row here that has not ended. The ways are those of the
// submitted graph and do not change; durations are learned, so they are measured anew from time to time.

#include <algorithm>

#include "libdag/graph/order.hpp"
#include "libdag/graph/rank.hpp"
#include "libdag/home/home_impl.hpp"

namespace dag {
namespace {

/// Measuring a graph of this size takes some milliseconds. It is repeated when the result is a second old,
/// and for a graph ten times as large when it is ten seconds old: a small part of the time, however often
/// clients ask.
constexpr double tasks_per_second_of_age = 10'000;
/// No answer for larger graphs, or where more was spawned: the home does nothing else meanwhile, and its
/// process would be taken for dead. (A million tasks take 0.2 s; half a second on a machine with more to do
/// than cores.)
constexpr std::size_t tasks_max = 2'000'000;
/// Limit for tasks that were not added in an order in which they could run: the order must be found first.
constexpr std::size_t unordered_tasks_max = 100'000;

/// True if each task stands behind its predecessors, those included whose outputs it takes.
bool is_in_order(const detail::Fragment& graph) {
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    for (const detail::EdgeEnd end : graph.in_edges(task)) {
      if (end.task() >= task) return false;
    }
  }
  return true;
}

}  // namespace

/// Usual run time of each task of the graph, by its policy and name; the mean of the others if nothing is
/// known of its name.
std::vector<Duration> Home::Impl::usual_durations() const {
  const detail::Fragment& graph = *plan->graph;
  // Policies seldom differ within one.
  std::vector<std::optional<std::optional<Duration>>> of_names(graph.names.size());
  std::vector<std::optional<Duration>> known(graph.size());
  double total = 0;
  std::uint64_t count = 0;
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    const std::uint32_t name = graph.kind(task).name;
    if (!of_names[name]) of_names[name] = placement->usual(graph.names[name], graph.policy(task));
    known[task] = *of_names[name];
    if (!known[task]) continue;
    total += static_cast<double>(known[task]->count());
    ++count;
  }
  const Duration mean = count == 0 ? Duration{0} : nanoseconds_of(total / static_cast<double>(count));
  std::vector<Duration> durations;
  durations.reserve(graph.size());
  for (const auto& one : known) durations.push_back(one.value_or(mean));
  return durations;
}

void Home::Impl::measure_ways(Instant at) {
  const detail::Fragment& graph = *plan->graph;
  const std::chrono::duration<double> wanted_age(static_cast<double>(graph.size()) / tasks_per_second_of_age);
  if (!ways.empty() && at - ways_measured_at < wanted_age) return;
  std::vector<std::uint32_t> order;
  if (!is_in_order(graph)) {
    if (graph.size() > unordered_tasks_max) return;
    order = topological_order(graph, OutEdges(graph));
  }
  ways_measured_at = at;
  const std::vector<Duration> durations = usual_durations();
  ways.assign(graph.size(), LongestWay{});
  for (std::size_t i = graph.size(); i-- > 0;) {
    const std::uint32_t task = order.empty() ? static_cast<std::uint32_t>(i) : order[i];
    LongestWay& way = ways[task];  // The longest of those behind it.
    way.left = sum(way.left, durations[task]);
    ++way.tasks;
    for (const detail::EdgeEnd end : graph.in_edges(task)) ways[end.task()] = std::max(ways[end.task()], way);
  }
}

void Home::critical_path(Instant at, std::optional<PathLeft>& longest) {
  Impl& home = *impl_;
  if (home.over || home.recounting) return;
  if (home.plan->graph->size() > tasks_max || home.table.size() > tasks_max) return;
  home.measure_ways(at);
  if (home.ways.empty()) return;
  for (RowIndex row = 0; row < home.table.size(); ++row) {
    if (home.table[row].ghost || home.is(row, flag::vanished) || home.has_ended(row)) continue;
    const TaskId task = home.table.id(row);
    PathLeft path{Duration{0}, 1, task};
    if (task.origin == 0) {
      path.left = home.ways[task.index].left;
      path.tasks = home.ways[task.index].tasks;
    } else {
      // Successors of a spawned task are in the graph only where the task that spawned it waits for it.
      path.left =
          home.placement->usual(home.table.name_of(home.table[row]), home.table.policy_of(home.table[row]))
              .value_or(Duration{0});
    }
    if (!longest || std::pair(longest->left, longest->tasks) < std::pair(path.left, path.tasks))
      longest = path;
  }
}

}  // namespace dag
