#pragma once
// Which incarnation a node has that starts. Each start has a higher one than all before it: by what the node
// kept itself (in its data or its state directory), by what the other nodes remember of it, which tell it
// when it comes with a lower one (MembershipMachine), and where there is neither, by the clock and a random
// part, so that two starts in one second are not the same life.

#include <cstdint>
#include <optional>
#include <string>

#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"
#include "nodes/disk/files.hpp"

namespace dag {

/// Two starts of a node are so far apart: those between are for its worker processes
/// (libdag/host/host.hpp).
inline constexpr std::uint32_t incarnations_apart = 1024;

/// `kept`: the one before, as far as the node knows itself. `at_least`: 0, or what others have told.
/// Error: there are none left.
Result<Incarnation> next_incarnation(std::optional<Incarnation> kept, Incarnation at_least);

/// In a file of its own, in the directory of a node that keeps nothing else.
std::optional<Incarnation> kept_incarnation(const std::string& directory);
/// Whether it could be written; the next start may know without.
bool keep_incarnation(Files& files, const std::string& directory, Incarnation incarnation);

}  // namespace dag
