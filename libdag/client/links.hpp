#pragma once
// Which nodes of a cluster hear which others, by each node's own word. If two nodes disagree, the net between
// them is cut in one direction.

#include <map>
#include <optional>
#include <vector>

#include "libdag/keeper/messages.hpp"

namespace dag::detail {

struct NodeLink {
  ProcessId from, to;            ///< nodes; `from` is the one that hears
  std::optional<HeardOf> heard;  ///< none: `from` takes `to` for gone, or has never met it
  bool suspect = false;          ///< it asks others whether they hear `to`
  /// Heartbeats are half a second apart where nodes share a host, and each tells what was heard by
  /// then.
  static constexpr Duration late_after = std::chrono::seconds(2);
  bool in_trouble() const { return !heard || suspect || heard->ago > late_after; }
};

/// A link for every two nodes that some node takes for up, with the first node's word on hearing the second,
/// if there is one. Links in trouble come first, then the slowest. `said`: each node's answer, itself first.
std::vector<NodeLink> links_between(const std::map<ProcessId, std::vector<NodeInfo>>& said);

}  // namespace dag::detail
