#pragma once
// The workloads of this peer that have a file of their own.

#include "tools/bench/peers/peer.hpp"

namespace dag::bench {
Figures floor_latency(const Request& request);
Figures floor_blob(const Request& request);
}  // namespace dag::bench
