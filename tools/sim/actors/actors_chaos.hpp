#pragma once
// A seed of the world `actors`: its jobs, its number of nodes, its faults. And the bugs that can be planted
// there.

#include "tools/sim/actors/ledger.hpp"
#include "tools/sim/mutants.hpp"
#include "tools/sim/shrink.hpp"

namespace dag::sim {

const PartNames& parts_of_actors();

/// `about` says which parts of the seed are left out; its number is ignored.
ChaosResult actors_chaos(std::uint64_t seed, bool trace = false,
                         PlantedAround planted = PlantedAround::nothing, const Case& about = {});

std::vector<Mutant> actors_mutants();

}  // namespace dag::sim
