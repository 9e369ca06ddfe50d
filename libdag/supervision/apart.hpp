#pragma once
// Processes of a job that are alive and do not hear each other, because the network between their hosts is
// cut in one direction, or in both while a third process hears both. None is dead, so membership does not
// help, and each would wait for the other until the cut is healed. So some of them must end: the job's
// leader decides here which, from their reports. gateway/gateway.hpp decides when a silence is long enough
// to count.

#include <vector>

#include "libdag/base/ids.hpp"

namespace dag {

/// A process waits for an answer of another, and hears nothing. The pair does not say whether the other
/// hears.
struct Apart {
  Life who;
  Life silent;
  auto operator<=>(const Apart&) const = default;
};

/// The processes that end so that all others hear each other; never `leader`. The process that is apart from
/// most goes first, and so on (the greedy vertex cover: it may remove one more than necessary, and with cuts
/// between hosts it takes one side of each cut). Among equals the process that more do not hear goes: it may
/// be frozen, and a reporter is not. Then processes on the leader's node stay, then those with a lower
/// number, so two leaders with the same news decide alike.
std::vector<Life> who_goes(std::vector<Apart> apart, Life leader);

}  // namespace dag
