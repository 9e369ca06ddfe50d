#pragma once
// Which nodes of a cluster hear which others, as each says itself: where two do not agree, the net between
// them is cut one way.

#include <map>
#include <optional>
#include <vector>

#include "libdag/keeper/messages.hpp"

namespace dag::detail {

struct NodeLink {
  ProcessId from, to;            ///< nodes; `from` is the one that hears
  std::optional<HeardOf> heard;  ///< none: it takes `to` for gone, or has never met it
  bool suspect = false;          ///< it asks others whether they hear `to`
  /// Heartbeats are half a second apart where nodes share a host, and what is heard is told with the next
  /// one.
  static constexpr Duration late_after = std::chrono::seconds(2);
  bool in_trouble() const { return !heard || suspect || heard->ago > late_after; }
};

/// Of every two nodes that somebody takes for up, how the first one hears the other, if it has said so. Those
/// in trouble come first, then the slowest. `said`: what each node has answered, itself first.
std::vector<NodeLink> links_between(const std::map<ProcessId, std::vector<NodeInfo>>& said);

}  // namespace dag::detail
