#pragma once
// The ways in which a network of five is cut, all of them once: 61.

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dag::chaos {

/// Pairs {from, to}: `to` does not hear `from`.
using Deaf = std::set<std::pair<std::uint32_t, std::uint32_t>>;
using Side = std::set<std::uint32_t>;

struct Cut {
  std::string name;  ///< its kind, and the nodes
  Deaf deaf;
  /// The smaller side of a split in two.
  Side side;
  /// Comes and goes, each half a second.
  bool flaps = false;

  std::string kind() const { return name.substr(0, name.find(' ')); }
};

/// No node of one side hears any node of the other.
inline void part(Deaf& deaf, const Side& one, const Side& other) {
  for (const std::uint32_t from : one) {
    for (const std::uint32_t to : other) {
      deaf.insert({from, to});
      deaf.insert({to, from});
    }
  }
}

inline std::string name_of(const Side& side) {
  std::string name;
  for (const std::uint32_t node : side) name += "n" + std::to_string(node);
  return name;
}

/// Two halves of four nodes, for each of the three ways: the first is with the second, third or fourth.
inline std::vector<std::pair<Side, Side>> halves_of(const std::vector<std::uint32_t>& four) {
  return {{{four[0], four[1]}, {four[2], four[3]}},
          {{four[0], four[2]}, {four[1], four[3]}},
          {{four[0], four[3]}, {four[1], four[2]}}};
}

inline std::vector<Cut> all_cuts() {
  constexpr std::uint32_t nodes = 5;
  const Side all{0, 1, 2, 3, 4};
  const auto without = [&](const Side& side) {
    Side others;
    for (const std::uint32_t node : all) {
      if (!side.contains(node)) others.insert(node);
    }
    return others;
  };
  std::vector<Cut> cuts;
  const auto split = [&](const Side& side) {
    cuts.push_back({"split " + name_of(side) + "|" + name_of(without(side)), {}, side, false});
    part(cuts.back().deaf, side, without(side));
  };
  for (std::uint32_t one = 0; one < nodes; ++one) {
    split({one});
    for (std::uint32_t other = one + 1; other < nodes; ++other) split({one, other});
  }
  for (const std::uint32_t from : all) {
    for (const std::uint32_t to : without({from}))
      cuts.push_back({"one-way " + name_of({from}) + ">" + name_of({to}), {{from, to}}, {}, false});
  }
  for (const std::uint32_t bridge : all) {
    const Side four = without({bridge});
    for (const auto& [one, other] : halves_of({four.begin(), four.end()})) {
      cuts.push_back(
          {"bridge " + name_of(one) + "-" + name_of({bridge}) + "-" + name_of(other), {}, {}, false});
      part(cuts.back().deaf, one, other);
    }
  }
  for (const std::uint32_t node : all) {
    Cut hears{"deaf " + name_of({node}), {}, {}, false};
    Cut says{"mute " + name_of({node}), {}, {}, false};
    for (const std::uint32_t other : without({node})) {
      hears.deaf.insert({other, node});
      says.deaf.insert({node, other});
    }
    cuts.push_back(hears);
    cuts.push_back(says);
  }
  cuts.push_back({"flapping n0n1|n2n3n4", {}, {}, true});
  part(cuts.back().deaf, {0, 1}, without({0, 1}));
  return cuts;
}

}  // namespace dag::chaos
