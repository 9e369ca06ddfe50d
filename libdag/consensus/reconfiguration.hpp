#pragma once
// Who should hold copies of a log, and the next single step there. The leader asks; its log does it.

#include <algorithm>
#include <optional>
#include <vector>

#include "libdag/consensus/replica.hpp"

namespace dag::consensus {

/// Seats in the order in which a log wants them: weighted rendezvous hashing (Thaler, Ravishankar 1998),
/// score -weight / ln(u) with u drawn from node and log. So logs spread over the nodes by their weights, and
/// a node that comes or goes moves only the logs that it gets or had.
struct Candidate {
  Seat seat;
  double weight = 1;
  bool operator==(const Candidate&) const = default;
};
std::vector<Seat> ranked(std::uint64_t log, const std::vector<Candidate>& candidates);

/// How many copies a log has: an odd number, because an even one survives the loss of no more than one less.
inline std::size_t copies_for(std::size_t wanted, std::size_t seats) {
  const std::size_t copies = std::max<std::size_t>(1, std::min(wanted, seats));
  return copies - (copies % 2 == 0 ? 1 : 0);
}

/// What the leader's next Replica::change should be; nothing when all is as it should be, or nothing can be
/// done now. `alive` are the seats that are there, as ranked; `leaving` those of nodes that are to go, which
/// are there as well, and are replaced when there is another. Learners first, then voters, then whoever is
/// too much goes: first who is not alive or silent for long, then who is leaving, which a leader does not
/// take for itself: it hands over before. Nobody leaves for want of another, so a log whose dead have no
/// successor keeps waiting for them; and no step is taken behind which those who are alive would not be a
/// majority.
std::optional<Configuration> next_change(const Replica& leader, const std::vector<Seat>& alive,
                                         const std::vector<Seat>& leaving, std::size_t copies_wanted,
                                         Instant now);

}  // namespace dag::consensus
