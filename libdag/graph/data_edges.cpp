#include "libdag/graph/data_edges.hpp"

#include <algorithm>

namespace dag {

void mark_data_edges(const detail::Fragment& fragment, std::uint32_t task, std::vector<bool>& data) {
  data.assign(fragment.edge_count(task), false);
  for (const detail::Argument& argument : fragment.arguments_of(task)) {
    if (is_input(argument.kind)) std::fill_n(data.begin() + argument.first, argument.count, true);
  }
}

}  // namespace dag
