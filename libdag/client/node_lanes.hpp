#pragma once
// How many lanes a node has and how many of them run something, as it said last.

#include <algorithm>
#include <cstdint>

#include "libdag/keeper/messages.hpp"

namespace dag::detail {

struct NodeLanes {
  std::uint64_t there = 0, running = 0;
  NodeLanes& operator+=(const NodeLanes& more) {
    there += more.there;
    running += more.running;
    return *this;
  }
};

inline NodeLanes lanes_of(const NodeInfo& node) {
  NodeLanes lanes;
  for (const DeviceLoad& device : node.load.devices) {
    lanes.there += device.lanes;
    lanes.running += device.lanes - std::min(device.lanes, device.lanes_free);
  }
  return lanes;
}

}  // namespace dag::detail
