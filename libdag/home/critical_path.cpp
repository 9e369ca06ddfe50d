#include "libdag/home/critical_path.hpp"

#include <algorithm>
#include <optional>

#include "libdag/base/check.hpp"
#include "libdag/graph/order.hpp"
#include "libdag/graph/rank.hpp"

namespace dag {
namespace {

/// Measuring a graph of this size takes some milliseconds. It is repeated when the result is a second old,
/// and for a graph ten times as large when it is ten seconds old: a small part of the time, however often
/// clients ask.
constexpr double tasks_per_second_of_age = 10'000;
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
std::vector<Duration> CriticalPath::usual_durations(const HomePlacement& placement) const {
  // Policies seldom differ within one.
  std::vector<std::optional<std::optional<Duration>>> of_names(graph_.names.size());
  std::vector<std::optional<Duration>> known(graph_.size());
  double total = 0;
  std::uint64_t count = 0;
  for (std::uint32_t task = 0; task < graph_.size(); ++task) {
    const std::uint32_t name = graph_.kind(task).name;
    if (!of_names[name]) of_names[name] = placement.usual(graph_.names[name], graph_.policy(task));
    known[task] = *of_names[name];
    if (!known[task]) continue;
    total += static_cast<double>(known[task]->count());
    ++count;
  }
  const Duration mean = count == 0 ? Duration{0} : nanoseconds_of(total / static_cast<double>(count));
  std::vector<Duration> durations;
  durations.reserve(graph_.size());
  for (const auto& one : known) durations.push_back(one.value_or(mean));
  return durations;
}

bool CriticalPath::measure(const HomePlacement& placement, Instant at) {
  const std::chrono::duration<double> wanted_age(static_cast<double>(graph_.size()) /
                                                 tasks_per_second_of_age);
  if (graph_.size() > tasks_max) return false;
  if (!ways_.empty() && at - measured_at_ < wanted_age) return true;
  std::vector<std::uint32_t> order;
  if (!is_in_order(graph_)) {
    if (graph_.size() > unordered_tasks_max) return !ways_.empty();
    order = topological_order(graph_, OutEdges(graph_));
  }
  measured_at_ = at;
  const std::vector<Duration> durations = usual_durations(placement);
  ways_.assign(graph_.size(), Way{});
  for (std::size_t i = graph_.size(); i-- > 0;) {
    const std::uint32_t task = order.empty() ? static_cast<std::uint32_t>(i) : order[i];
    Way& way = ways_[task];  // The longest of those behind it.
    way.left = sum(way.left, durations[task]);
    ++way.tasks;
    for (const detail::EdgeEnd end : graph_.in_edges(task))
      ways_[end.task()] = std::max(ways_[end.task()], way);
  }
  return true;
}

void CriticalPath::check_invariants() const {
  DAG_CHECK(ways_.empty() || ways_.size() == graph_.size());
  for (std::uint32_t task = 0; task < ways_.size(); ++task) {
    DAG_CHECK(ways_[task].tasks > 0);
    for (const detail::EdgeEnd end : graph_.in_edges(task)) DAG_CHECK(ways_[end.task()] > ways_[task]);
  }
}

}  // namespace dag
