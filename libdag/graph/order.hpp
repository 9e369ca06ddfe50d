#pragma once
// Execution order of a graph: successors, a topological order, or a cycle that forbids one. Nothing here is
// recursive, since a chain of a million tasks is allowed.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"

namespace dag {

/// An edge, seen from its predecessor.
struct OutEdge {
  std::uint32_t successor = 0;
  std::uint32_t edge = 0;  ///< its place in the fragment's edges
};

/// Out-edges of every task of a sealed fragment, each task's in the order of its successors.
class OutEdges {
 public:
  explicit OutEdges(const detail::Fragment& fragment);
  std::span<const OutEdge> of(std::uint32_t task) const {
    return std::span(edges_).subspan(first_[task], first_[task + 1] - first_[task]);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<OutEdge> edges_;
};

/// All tasks, each behind its predecessors; of the next possible tasks, the one that became possible first
/// (Kahn 1962, with a queue). Shorter than the fragment when it has a cycle: the missing tasks lie on or
/// behind one.
std::vector<std::uint32_t> topological_order(const detail::Fragment& fragment, const OutEdges& out_edges);
std::vector<std::uint32_t> topological_order(const detail::Fragment& fragment);

/// A cycle, in the direction of its edges, beginning with its lowest index; empty when there is none.
std::vector<std::uint32_t> find_cycle(const detail::Fragment& fragment);

/// A task's name in messages and drawings: class and index, `train#4`.
std::string label(const detail::Fragment& fragment, std::uint32_t task);
/// `load#3 -> train#4 -> load#3`; a long path is shortened to a count in the middle.
std::string path_label(const detail::Fragment& fragment, std::span<const std::uint32_t> path);

}  // namespace dag
