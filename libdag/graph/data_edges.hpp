#pragma once
// By which edges of a graph data goes along, and by which nothing but the order.

#include <vector>

#include "dag/detail/fragment.hpp"

namespace dag {

/// Of each in-edge of a task: an argument is made from what the predecessor leaves.
void mark_data_edges(const detail::Fragment& fragment, std::uint32_t task, std::vector<bool>& data);

}  // namespace dag
