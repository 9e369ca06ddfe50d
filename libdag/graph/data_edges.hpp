#pragma once
// Edges that carry data, and tasks whose data only the client reads.

#include <vector>

#include "dag/detail/fragment.hpp"

namespace dag {

/// Marks the in-edges of a task that carry data: an argument is made from the predecessor's output.
void mark_data_edges(const detail::Fragment& fragment, std::uint32_t task, std::vector<bool>& data);

/// Tasks whose output no other task reads, and tasks with `.keep()`: clients ask for these.
std::vector<std::uint32_t> results_of(const detail::Fragment& graph);

}  // namespace dag
