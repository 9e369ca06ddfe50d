#pragma once
// The workloads of this peer that have a file of their own.

#include "tools/bench/peers/peer.hpp"

namespace dag::bench {
Figures tbb_patterns(const Request& request);
}  // namespace dag::bench
