#pragma once
// A seed with less in it: a failure with few tasks and one kind of fault is understood sooner. Greedy, as in
// delta debugging (Zeller, Hildebrandt: Simplifying and isolating failure-inducing input, TSE 2002), one part
// after the other until none can be left out.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sim/result.hpp"

namespace dag::sim {

/// A seed, and the parts left out of its draw. Written as "41-late-quorums<6": seed 41 without late messages
/// and quorums, of at most 6 tasks.
struct Case {
  std::uint64_t seed = 0;
  std::set<std::string> without;
  std::uint32_t tasks_max = 0;  ///< of the world `log`: commands of each client. 0: as drawn
  bool operator==(const Case&) const = default;
};

/// Parts of a world that can be left out. The part whose absence explains most comes first.
using PartNames = std::vector<std::string>;

std::string to_string(const Case& about);
/// Nothing: it is not written so, or the world has nothing of that name.
std::optional<Case> parse_case(std::string_view text, const PartNames& parts);

/// The smallest that still fails in the same way, numbers aside. `run` tells how a case ends.
Case shrink(const Case& failing, const PartNames& parts, const std::function<ChaosResult(const Case&)>& run);

/// Leaves a part out of the draw of a seed.
template <class Drawn>
struct Part {
  const char* name;
  void (*leave_out)(Drawn&);
};

template <class Drawn>
void leave_out(const Case& about, const std::vector<Part<Drawn>>& parts, Drawn& drawn) {
  for (const Part<Drawn>& part : parts) {
    if (about.without.contains(part.name)) part.leave_out(drawn);
  }
}

template <class... Drawn>
PartNames names_of(const std::vector<Part<Drawn>>&... parts) {
  PartNames names;
  const auto add = [&](const auto& some) {
    for (const auto& part : some) names.push_back(part.name);
  };
  (add(parts), ...);
  return names;
}

}  // namespace dag::sim
