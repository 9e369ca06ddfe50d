#pragma once
// One seed of the world `actors`: which jobs, how many nodes, what goes wrong. And the bugs that can be
// planted there.

#include "tools/sim/actors/ledger.hpp"
#include "tools/sim/mutants.hpp"

namespace dag::sim {

ChaosResult actors_chaos(std::uint64_t seed, bool trace = false,
                         PlantedAround planted = PlantedAround::nothing);

std::vector<Mutant> actors_mutants();

}  // namespace dag::sim
