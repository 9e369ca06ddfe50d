#pragma once
// Edges of a graph along which data goes, and tasks whose data goes to nobody but the client.

#include <vector>

#include "dag/detail/fragment.hpp"

namespace dag {

/// Of each in-edge of a task: an argument is made from what the predecessor leaves.
void mark_data_edges(const detail::Fragment& fragment, std::uint32_t task, std::vector<bool>& data);

/// Tasks of which no other task reads the output, and those that are to be kept: a client asks for these.
std::vector<std::uint32_t> results_of(const detail::Fragment& graph);

}  // namespace dag
