#pragma once
// One seed of the world `actors`: which jobs, how many nodes, what goes wrong.

#include "tools/sim/result.hpp"

namespace dag::sim {

ChaosResult actors_chaos(std::uint64_t seed, bool trace = false);

}  // namespace dag::sim
