#pragma once
// Events that must happen sometimes: a guard that never refuses anything, a fault that never meets anybody,
// proves nothing (FoundationDB's BUGGIFY and Antithesis call these sometimes-assertions).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dag::sim {

/// So many seeds are to be enough for each of them.
inline constexpr std::uint64_t sometimes_seeds = 10'000;

/// Events that a world's seeds should have seen, and did not.
std::vector<std::string> never_seen(std::string_view world, const std::map<std::string, std::uint64_t>& seen);

}  // namespace dag::sim
