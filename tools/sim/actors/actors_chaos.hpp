#pragma once
// One seed of the world `actors`: which jobs, how many nodes, what goes wrong. And the bugs that can be
// planted there.

#include "tools/sim/actors/ledger.hpp"
#include "tools/sim/mutants.hpp"
#include "tools/sim/shrink.hpp"

namespace dag::sim {

const PartNames& parts_of_actors();

/// What is left out of the seed is said by `about`, whose number is not looked at.
ChaosResult actors_chaos(std::uint64_t seed, bool trace = false,
                         PlantedAround planted = PlantedAround::nothing, const Case& about = {});

std::vector<Mutant> actors_mutants();

}  // namespace dag::sim
