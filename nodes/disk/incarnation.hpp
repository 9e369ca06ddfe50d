#pragma once
// The incarnation of a node that starts. Each start has a higher one than all before it: by the number that
// the node kept itself (in its data or its state directory), or by the memory of the other nodes, which tell
// it when it comes with a lower one (MembershipMachine). Where there is neither, by the clock and a random
// part, so that two starts in one second are not the same life.

#include <cstdint>
#include <optional>
#include <string>

#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"
#include "nodes/disk/files.hpp"

namespace dag {

/// The distance of two starts of a node: the numbers between are for its worker processes
/// (libdag/host/host.hpp).
inline constexpr std::uint32_t incarnations_apart = 1024;

/// `kept`: the incarnation before, as far as the node knows itself. `at_least`: 0, or the number that others
/// told. Error: there are none left.
Result<Incarnation> next_incarnation(std::optional<Incarnation> kept, Incarnation at_least);

/// Read from a file of its own, in the directory of a node that keeps nothing else.
std::optional<Incarnation> kept_incarnation(const std::string& directory);
/// False: it could not be written; the next start may learn the number otherwise.
bool keep_incarnation(Files& files, const std::string& directory, Incarnation incarnation);

}  // namespace dag
