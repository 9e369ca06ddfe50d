#pragma once
// Processes of one job that are alive and do not hear each other, because the network between their hosts is
// cut on one way, or on both while a third one hears both. Nobody is dead, so membership helps nobody, and
// each would wait for the other until the cut is healed. So some of them have to go: decided here, by who
// leads the job, from what each says. When a silence is long enough to count is for others
// (gateway/gateway.hpp).

#include <vector>

#include "libdag/base/ids.hpp"

namespace dag {

/// One of them waits for an answer of the other, and hears nothing. Whether the other one hears is not said
/// by it.
struct Apart {
  Life who;
  Life silent;
  auto operator<=>(const Apart&) const = default;
};

/// Who goes, so that the others all hear each other; `leader` is not one of them. The one that is apart from
/// most goes first, and so on (the greedy vertex cover: it may let one more go than needs be, and with cuts
/// between hosts it takes one side of each cut). Of equals the one goes that more do not hear: it may be
/// frozen, and whoever speaks is not. Then those stay that run on the leader's node, then those with a lower
/// number, so two who decide from the same news decide alike.
std::vector<Life> who_goes(std::vector<Apart> apart, Life leader);

}  // namespace dag
