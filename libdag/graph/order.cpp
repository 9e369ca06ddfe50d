// Kahn's algorithm, and the walk that finds a cycle among the remaining tasks.

#include "libdag/graph/order.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"

namespace dag {

using detail::Edge;
using detail::Fragment;

OutEdges::OutEdges(const Fragment& fragment) : first_(fragment.size() + 1, 0), edges_(fragment.edges.size()) {
  for (const detail::EdgeEnd end : fragment.edges) ++first_[end.task() + 1];
  for (std::size_t task = 1; task < first_.size(); ++task) first_[task] += first_[task - 1];
  std::vector<std::uint32_t> place(first_.begin(), first_.end() - 1);
  fragment.each_edge([&](const Edge& edge, std::uint32_t at) {
    edges_[place[edge.predecessor]++] = {edge.successor, at};
  });
}

std::vector<std::uint32_t> topological_order(const Fragment& fragment, const OutEdges& out_edges) {
  std::vector<std::uint32_t> missing(fragment.size());
  std::vector<std::uint32_t> order;  // its part behind `next` is the queue
  order.reserve(fragment.size());
  for (std::uint32_t task = 0; task < missing.size(); ++task) {
    missing[task] = fragment.edge_count(task);
    if (missing[task] == 0) order.push_back(task);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const OutEdge out : out_edges.of(order[next])) {
      DAG_CHECK(missing[out.successor] > 0);
      if (--missing[out.successor] == 0) order.push_back(out.successor);
    }
  }
  return order;
}

std::vector<std::uint32_t> topological_order(const Fragment& fragment) {
  return topological_order(fragment, OutEdges(fragment));
}

std::vector<std::uint32_t> find_cycle(const Fragment& fragment) {
  const std::vector<std::uint32_t> order = topological_order(fragment);
  if (order.size() == fragment.size()) return {};
  std::vector<bool> waits(fragment.size(), true);
  for (const std::uint32_t task : order) waits[task] = false;

  // Every task left over waits for another one left over, so walking backwards must come to one seen before.
  std::uint32_t task =
      static_cast<std::uint32_t>(std::find(waits.begin(), waits.end(), true) - waits.begin());
  std::vector<std::uint32_t> step_of(fragment.size(), detail::none);
  std::vector<std::uint32_t> walk;
  while (step_of[task] == detail::none) {
    step_of[task] = static_cast<std::uint32_t>(walk.size());
    walk.push_back(task);
    const auto edges = fragment.in_edges(task);
    const auto blocking =
        std::find_if(edges.begin(), edges.end(), [&](detail::EdgeEnd end) { return waits[end.task()]; });
    DAG_CHECK(blocking != edges.end());
    task = blocking->task();
  }
  std::vector<std::uint32_t> cycle(walk.rbegin(), walk.rend() - static_cast<std::ptrdiff_t>(step_of[task]));
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

std::string label(const Fragment& fragment, std::uint32_t task) {
  return fragment.name(task) + "#" + std::to_string(task);
}

std::string path_label(const Fragment& fragment, std::span<const std::uint32_t> path) {
  constexpr std::size_t shown_at_each_end = 5;
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) text += " -> ";
    if (path.size() > 2 * shown_at_each_end + 1 && i == shown_at_each_end) {
      const std::size_t hidden = path.size() - 2 * shown_at_each_end;
      text += "(" + std::to_string(hidden) + " more) -> ";
      i += hidden;
    }
    text += label(fragment, path[i]);
  }
  return text;
}

}  // namespace dag
