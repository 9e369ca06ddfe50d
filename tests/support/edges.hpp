#pragma once
// The edges of a fragment one by one, for tests that look at them in their own way.

#include <vector>

#include "dag/detail/fragment.hpp"

namespace dag::test {

inline std::vector<detail::Edge> edges_of(const detail::Fragment& fragment) {
  std::vector<detail::Edge> edges;
  fragment.each_edge([&](const detail::Edge& edge, std::uint32_t) { edges.push_back(edge); });
  return edges;
}

}  // namespace dag::test
