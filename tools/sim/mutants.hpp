#pragma once
// Bugs that are planted on purpose, to see whether the simulator finds them: a simulator that finds none of a
// kind proves nothing about that kind.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libdag/base/planted.hpp"
#include "tools/sim/planted.hpp"
#include "tools/sim/result.hpp"

namespace dag::sim {

struct Mutant {
  std::string name;
  std::string world;  ///< "jobs", "cells", "log" or "actors": whose seeds find it
  PlantedBugs planted = {};
  /// For a mutant of another world: runs a seed with it.
  std::function<ChaosResult(std::uint64_t seed)> run = {};
  /// Nothing outside the machine shows it: only check_invariants finds it.
  bool is_inside = false;
};

/// Mutants of the worlds that need no CAF.
const std::vector<Mutant>& mutants();

struct Found {
  std::uint64_t seed = 0;
  std::string violation;
};
/// The first of these seeds in which something must not be.
std::optional<Found> find(const Mutant& mutant, std::uint64_t seeds);

}  // namespace dag::sim
