#pragma once
// The bugs that a run of a world has planted: one value per machine, and one for what the world itself does
// in place of lanes.

#include "libdag/cell/cell.hpp"
#include "libdag/consensus/replica.hpp"
#include "libdag/home/home.hpp"
#include "libdag/replica/cell_replica.hpp"
#include "libdag/runner/runner.hpp"

namespace dag::sim {

/// Bugs in the parts of a process that the world stands for.
enum class PlantedInLanes : std::uint8_t {
  nothing,
  stragglers_overlooked,  ///< a process asked for work does not know for how long its lanes have been busy
  old_news,               ///< lanes take news of any epoch
  generation_ignored,     ///< lanes run an old call on a restored actor
};

struct PlantedBugs {
  PlantedInHome home = PlantedInHome::nothing;
  PlantedInRunner runner = PlantedInRunner::nothing;
  PlantedInCell cell = PlantedInCell::nothing;
  PlantedInReplica replica = PlantedInReplica::nothing;
  PlantedInLanes lanes = PlantedInLanes::nothing;
  consensus::Planted log = consensus::Planted::nothing;
};

}  // namespace dag::sim
