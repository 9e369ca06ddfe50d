#pragma once
// A shard as the lanes of this process see it: its rows, its gate, and where their reports go.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "libdag/job/lane_report.hpp"
#include "libdag/rows/shared_rows.hpp"

namespace dag {

struct LaneShard : SharedRows, std::enable_shared_from_this<LaneShard> {
  /// The last passage of the gate is for the thread that calls Lanes::hear.
  LaneShard(Representation representation, std::size_t lanes) : SharedRows(representation, lanes + 1) {}

  JobId job;
  Epoch epoch;
  /// Takes a batch to the home. Called by lanes, must not block.
  std::function<void(LaneReport&&)> report;
  /// The home is to ask Lanes::reach again. Called by any thread, must not block. May be empty.
  std::function<void()> reach_changed;
  /// No row of the shard may run any more; set once, see Lanes::retire.
  std::atomic<bool> retired{false};
  /// Read by Context::cancelled in bare rows.
  std::atomic<bool> cancelled{false};
};

}  // namespace dag
