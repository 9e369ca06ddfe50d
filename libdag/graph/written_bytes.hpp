#pragma once
// Estimates the encoded size of a graph without encoding it: homes need it for spawned tasks. The encoder
// weighs exactly (wire/graph_codec.cpp); a test compares the two.

#include <cstddef>

#include "dag/detail/fragment.hpp"

namespace dag {

/// An upper bound close to the encoded size. A family counts as its formula, however many tasks it has.
/// O(kinds + literals + families).
std::size_t written_bytes(const detail::Fragment& graph);

}  // namespace dag
