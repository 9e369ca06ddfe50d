#pragma once
// A seed with less in it: what fails with few tasks and one kind of fault is understood sooner. Greedy, as in
// delta debugging (Zeller, Hildebrandt: Simplifying and isolating failure-inducing input, TSE 2002), one part
// after the other until none can be left out.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tests/support/random_graph.hpp"
#include "tools/sim/result.hpp"
#include "tools/sim/world.hpp"

namespace dag::sim {

/// A seed, and what is left out of what it draws. Written as "41-late-quorums<6": seed 41 without late
/// messages and quorums, of at most 6 tasks.
struct Case {
  std::uint64_t seed = 0;
  std::set<std::string> without;
  std::uint32_t tasks_max = 0;  ///< 0: as drawn
  bool operator==(const Case&) const = default;
};

std::string to_string(const Case& about);
/// Nothing: it is not written so, or nothing of that name can be left out.
std::optional<Case> parse_case(std::string_view text);

/// To be done to what the seed has drawn.
void leave_out(const Case& about, WorldOptions& world);
void leave_out(const Case& about, test::RandomGraphOptions& graph);

/// The smallest that still fails in the same way, numbers aside. `run` tells how a case ends.
Case shrink(const Case& failing, const std::function<ChaosResult(const Case&)>& run);

}  // namespace dag::sim
