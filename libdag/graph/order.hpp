#pragma once
// In which order tasks can run at all: successors, a topological order, or a cycle that forbids one. Nothing
// here is recursive: a chain of a million tasks is a graph like any other.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dag/detail/fragment.hpp"

namespace dag {

/// An edge as seen from its predecessor.
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

/// All tasks, each behind its predecessors; of those that could come next, the one that could come first
/// (Kahn 1962, with a queue). Shorter than the fragment when it has a cycle: what is missing lies on or
/// behind one.
std::vector<std::uint32_t> topological_order(const detail::Fragment& fragment, const OutEdges& out_edges);
std::vector<std::uint32_t> topological_order(const detail::Fragment& fragment);

/// One cycle, in the direction of its edges, beginning with its lowest index; empty when there is none.
std::vector<std::uint32_t> find_cycle(const detail::Fragment& fragment);

/// How messages and drawings name a task: class and index, `train#4`.
std::string label(const detail::Fragment& fragment, std::uint32_t task);
/// `load#3 -> train#4 -> load#3`; the middle of a long path is only counted.
std::string path_label(const detail::Fragment& fragment, std::span<const std::uint32_t> path);

}  // namespace dag
