#pragma once
// The same jobs in two clusters that differ in one thing: the cost of that thing.

#include <array>

#include "tools/bench/cluster.hpp"
#include "tools/bench/commands.hpp"

namespace dag::bench {

/// The plain cluster, named by `without` in tables, and the whole one, which is libdag as it is.
struct Compared {
  std::string_view without;
  const Cluster& plain;
  const Cluster& whole;
};
/// A workload, and the wanted share of the plain cluster's pace; zero: reported without a goal.
struct Wanted {
  int microseconds = 0;
  std::uint32_t tasks = 0;
  double percent = 0;
};

std::vector<Participant> participants(const Compared& clusters);
/// Chains of tasks, from the beginning of the first one until the last one's result is settled. `others` take
/// turns with both.
void compare(Settings& settings, Section& section, const Compared& clusters,
             const std::array<Wanted, 2>& workloads, const std::string& goal, const std::string& wanted,
             const std::vector<Participant>& others = {});

}  // namespace dag::bench
