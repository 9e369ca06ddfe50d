// A pass forward, then a pass backward.

#include "libdag/graph/rank.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/graph/order.hpp"

namespace dag {

using detail::Fragment;

std::vector<Duration> durations(const Fragment& fragment, Duration unstated) {
  std::vector<Duration> result;
  result.reserve(fragment.size());
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    result.push_back(fragment.policy(task).takes.value_or(unstated));
  }
  return result;
}

std::vector<Duration> durations(const Fragment& fragment) {
  double total = 0;
  double stated = 0;
  for (std::uint32_t task = 0; task < fragment.size(); ++task) {
    if (const auto takes = fragment.policy(task).takes) {
      total += static_cast<double>(takes->count());
      stated += 1;
    }
  }
  const double mean = stated > 0 ? total / stated : 0;
  return durations(fragment, std::max(nanoseconds_of(mean), Duration(1)));
}

Ranking rank(const Fragment& fragment, std::span<const Duration> task_durations,
             std::span<const Duration> edge_durations) {
  const OutEdges out_edges(fragment);
  return rank(fragment, out_edges, topological_order(fragment, out_edges), task_durations, edge_durations);
}

Ranking rank(const Fragment& fragment, const OutEdges& out_edges, std::span<const std::uint32_t> order,
             std::span<const Duration> task_durations, std::span<const Duration> edge_durations) {
  DAG_CHECK(task_durations.size() == fragment.size());
  DAG_CHECK(edge_durations.empty() || edge_durations.size() == fragment.edges.size());
  DAG_CHECK(order.size() == fragment.size());
  const auto transfer = [&](std::uint32_t edge) {
    return edge_durations.empty() ? Duration(0) : edge_durations[edge];
  };

  Ranking ranking;
  ranking.starts_at.assign(order.size(), Duration(0));
  ranking.upward.assign(order.size(), Duration(0));
  for (const std::uint32_t task : order) {
    const Duration ends_at = sum(ranking.starts_at[task], task_durations[task]);
    for (const OutEdge out : out_edges.of(task)) {
      Duration& starts_at = ranking.starts_at[out.successor];
      starts_at = std::max(starts_at, sum(ends_at, transfer(out.edge)));
    }
  }

  const auto behind = [&](OutEdge out) { return sum(transfer(out.edge), ranking.upward[out.successor]); };
  for (auto task = order.rbegin(); task != order.rend(); ++task) {
    Duration longest(0);
    for (const OutEdge out : out_edges.of(*task)) longest = std::max(longest, behind(out));
    ranking.upward[*task] = sum(task_durations[*task], longest);
  }

  // Where several begin or go on equally far, max_element takes the first: sources and out-edges lie in the
  // order of indices.
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return ranking.upward[a] < ranking.upward[b]; };
  const auto sources_end = std::find_if(order.begin(), order.end(),
                                        [&](std::uint32_t task) { return fragment.edge_count(task) > 0; });
  const auto source = std::max_element(order.begin(), sources_end, less);
  if (source == sources_end) return ranking;
  ranking.length = ranking.upward[*source];
  for (std::uint32_t task = *source;;) {
    ranking.critical_path.push_back(task);
    const auto edges = out_edges.of(task);
    if (edges.empty()) return ranking;
    const auto next = std::max_element(edges.begin(), edges.end(),
                                       [&](OutEdge a, OutEdge b) { return behind(a) < behind(b); });
    task = next->successor;
  }
}

Ranking rank(const Fragment& fragment) { return rank(fragment, durations(fragment)); }

}  // namespace dag
