#pragma once
// Number of lanes and of busy lanes of a node, by its last report.

#include <algorithm>
#include <cstdint>
#include <string>

#include "libdag/keeper/messages.hpp"

namespace dag::detail {

struct NodeLanes {
  std::uint64_t there = 0, running = 0;
  Duration busy{0};  ///< in kernels since the node began, summed over its lanes
  NodeLanes& operator+=(const NodeLanes& more) {
    there += more.there;
    running += more.running;
    busy += more.busy;
    return *this;
  }
};

/// Text of all tables below BUSY: lanes that run an attempt, of all lanes.
inline std::string busy_text(const NodeLanes& lanes) {
  return std::to_string(lanes.running) + "/" + std::to_string(lanes.there);
}

inline NodeLanes lanes_of(const NodeInfo& node) {
  NodeLanes lanes;
  for (const DeviceLoad& device : node.load.devices) {
    lanes.there += device.lanes;
    lanes.running += device.lanes - std::min(device.lanes, device.lanes_free);
    lanes.busy += device.busy;
  }
  return lanes;
}

}  // namespace dag::detail
