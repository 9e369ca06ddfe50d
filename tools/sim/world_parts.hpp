#pragma once
// The parts that can be left out of a seed of the worlds `jobs` and `cells`.

#include "tests/support/random_graph.hpp"
#include "tools/sim/shrink.hpp"
#include "tools/sim/world.hpp"

namespace dag::sim {

const PartNames& parts_of_jobs();

/// Applied to the draw of a seed.
void leave_out(const Case& about, WorldOptions& world);
void leave_out(const Case& about, test::RandomGraphOptions& graph);

}  // namespace dag::sim
