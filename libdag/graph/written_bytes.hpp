#pragma once
// How large a graph is where it is written, for who decides by that and does not write: homes, of what was
// spawned. Writing itself weighs exactly (wire/graph_codec.cpp); a test holds the two together.

#include <cstddef>

#include "dag/detail/fragment.hpp"

namespace dag {

/// About so many bytes, and not less. A family is its formula, however many its tasks are. O(kinds + literals
/// + families).
std::size_t written_bytes(const detail::Fragment& graph);

}  // namespace dag
