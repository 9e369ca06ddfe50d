#include "libdag/graph/data_edges.hpp"

#include <algorithm>

namespace dag {

void mark_data_edges(const detail::Fragment& fragment, std::uint32_t task, std::vector<bool>& data) {
  data.assign(fragment.edge_count(task), false);
  for (const detail::Argument& argument : fragment.arguments_of(task)) {
    if (is_input(argument.kind)) std::fill_n(data.begin() + argument.first, argument.count, true);
  }
}

std::vector<std::uint32_t> results_of(const detail::Fragment& graph) {
  std::vector<bool> read(graph.size(), false), data;
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    mark_data_edges(graph, task, data);
    const std::span<const detail::EdgeEnd> edges = graph.in_edges(task);
    for (std::size_t edge = 0; edge < edges.size(); ++edge) {
      if (data[edge]) read[edges[edge].task()] = true;
    }
  }
  std::vector<std::uint32_t> results;
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    if (!read[task] || graph.policy(task).keep) results.push_back(task);
  }
  return results;
}

}  // namespace dag
