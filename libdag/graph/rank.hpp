#pragma once
// Urgency of tasks: the longest way from the beginning to each, and from each to the end. Decides the
// critical path; check.hpp decides whether it is too long, and placement what follows.
//
// Upward rank as in HEFT (Topcuoglu, Hariri, Wu, 2002): w(t) + max over successors s of (c(t, s) + rank(s)).

#include <cstdint>
#include <span>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/base/saturating.hpp"

namespace dag {

/// Ranks of tasks, by index.
struct Ranking {
  std::vector<Duration> starts_at;  ///< earliest start (EST), with unlimited devices
  std::vector<Duration> upward;     ///< from its start to the end of the graph, on the longest way
  Duration length{0};               ///< of the critical path
  /// A longest path from first to last task; of equal ones the path with the lower indices.
  std::vector<std::uint32_t> critical_path;

  /// Latest start (LST) that does not delay the graph.
  Duration latest_start(std::uint32_t task) const { return length - upward[task]; }
  Duration slack(std::uint32_t task) const { return latest_start(task) - starts_at[task]; }
};

/// Durations that tasks state; silent tasks count as `unstated`.
std::vector<Duration> durations(const detail::Fragment& fragment, Duration unstated);
/// Durations for ranking: silent tasks count as the mean of the others, or as one unit (1 ns) if all are
/// silent.
std::vector<Duration> durations(const detail::Fragment& fragment);

class OutEdges;

/// `task_durations` by task index; `edge_durations` (transfers) by index in the fragment's edges, or empty.
/// The fragment must have no cycle. O(tasks + edges).
Ranking rank(const detail::Fragment& fragment, std::span<const Duration> task_durations,
             std::span<const Duration> edge_durations = {});
Ranking rank(const detail::Fragment& fragment);
/// For callers that have these already: `order` is the fragment's topological order.
Ranking rank(const detail::Fragment& fragment, const OutEdges& out_edges,
             std::span<const std::uint32_t> order, std::span<const Duration> task_durations,
             std::span<const Duration> edge_durations = {});

}  // namespace dag
