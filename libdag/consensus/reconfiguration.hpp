#pragma once
// Decides which seats should hold copies of a log, and the next single step there. The log makes the step.

#include <algorithm>
#include <optional>
#include <vector>

#include "libdag/consensus/replica.hpp"

namespace dag::consensus {

/// A seat with its rank for a log: weighted rendezvous hashing (Thaler, Ravishankar 1998), score -weight /
/// ln(u) with u drawn from node and log. Logs spread over the nodes by weight, and a node that comes or goes
/// moves only its own logs.
struct Candidate {
  Seat seat;
  double weight = 1;
  bool operator==(const Candidate&) const = default;
};
std::vector<Seat> ranked(std::uint64_t log, const std::vector<Candidate>& candidates);

/// The number of copies: odd, since an even number tolerates no more losses than the odd one below it.
inline std::size_t copies_for(std::size_t wanted, std::size_t seats) {
  const std::size_t copies = std::max<std::size_t>(1, std::min(wanted, seats));
  return copies - (copies % 2 == 0 ? 1 : 0);
}

/// The leader's next Replica::change; none when all is as it should be, or nothing can be done now.
/// `alive` are the present seats, as ranked; `leaving` are those of draining nodes, which are present as
/// well and are replaced when another seat is available. Learners are added first, then made voters, then
/// surplus seats are removed: dead or long silent ones first, then leaving ones. A leader does not remove
/// itself; it hands leadership over before. No seat is removed without a replacement, so a log whose dead
/// seats have no successor waits for them. No step is taken after which the living seats would not be a
/// majority.
std::optional<Configuration> next_change(const Replica& leader, const std::vector<Seat>& alive,
                                         const std::vector<Seat>& leaving, std::size_t copies_wanted,
                                         Instant now);

}  // namespace dag::consensus
