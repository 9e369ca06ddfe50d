#pragma once
// How busy a large cluster's lanes are kept, in virtual time: the machines of real processes at a measured
// pace, one home per node, nothing lost. That the graph has to be sent to all of them is left out of the
// time, and counted.

#include <cstdint>
#include <string>

#include "tools/sim/world.hpp"

namespace dag::sim {

struct ScaleOptions {
  /// stencil, chains or random.
  std::string pattern = "stencil";
  std::uint32_t nodes = 16;
  std::uint32_t lanes_each = 16;
  std::uint32_t columns_per_lane = 2;
  std::uint32_t steps = 20;
  Pace pace;
};

struct ScaleResult {
  std::uint64_t tasks = 0;
  Duration took{0};       ///< from the beginning of the first task to the end of the last one
  double efficiency = 0;  ///< of all lanes, over that time
  /// The busiest process's share of all bytes and messages sent and received; and the busiest share of time
  /// of a thread for messages.
  double bytes_share = 0, messages_share = 0;
  double control_busy = 0;
  std::uint64_t bytes = 0, messages = 0;
  std::uint64_t graph_bytes = 0;  ///< sent by one process to all others before the job begins
  std::uint64_t edges = 0, edges_cut = 0;
};

/// Throws Violation when the job does not end as it should.
ScaleResult scale(const ScaleOptions& options);

}  // namespace dag::sim
