// Conditions on holders of copies: no two leaders could both settle something (I8), and when all is well
// again everything that has begun ends in time (L1, L2, L3).

#include <algorithm>

#include "tools/sim/log_world.hpp"

namespace dag::sim {

using namespace consensus;
using std::chrono::seconds;

namespace {

constexpr Duration ends_within = seconds(30);
/// Limit for elections that nobody planned.
constexpr Duration elections_stop_within = seconds(5);
constexpr Duration copied_within = seconds(10);

}  // namespace

/// True if enough voters of its configuration have promised nothing to a later term.
bool LogWorld::could_settle(const Node& node) const {
  const Replica& leader = *node.replica;
  const Configuration& all = leader.configuration();
  const auto follows = std::count_if(all.voters.begin(), all.voters.end(), [&](const Seat& voter) {
    const Node& other = nodes_[voter.node.value];
    if (seat_of(other) != voter) return false;
    return (other.replica ? other.replica->term() : other.disk.stored().vote.term) <= leader.term();
  });
  return static_cast<std::size_t>(follows) >= all.quorum();
}

/// I8. Where configurations share a majority this cannot be, and where they need not it must not.
void LogWorld::look_for_two_majorities(const Node& node) const {
  const auto leads = [](const Node& one) {
    return one.replica && one.replica->role() == Replica::Role::leader;
  };
  if (!leads(node)) return;
  const bool alone = std::none_of(nodes_.begin(), nodes_.end(), [&](const Node& other) {
    return other.number != node.number && leads(other) && could_settle(other);
  });
  if (!alone && could_settle(node))
    throw Violation("two leaders have configurations whose majorities have nobody in common");
}

/// True if the wanted number of nodes has a copy of everything settled at the last look. (Where there are too
/// few nodes for all copies, seats of lost disks keep their votes.)
bool LogWorld::is_copied() {
  const Node* leader = nullptr;
  std::size_t seats = 0;
  for (const Node& node : nodes_) {
    seats += node.replica && !node.leaving ? 1 : 0;
    if (!node.replica || node.replica->role() != Replica::Role::leader) continue;
    if (leader == nullptr || leader->replica->term() < node.replica->term()) leader = &node;
  }
  if (leader == nullptr) return false;
  const Index settled = std::exchange(settled_at_last_look_, leader->replica->settled());
  const std::vector<Seat>& voters = leader->replica->configuration().voters;
  const auto copies = std::count_if(voters.begin(), voters.end(), [&](const Seat& voter) {
    const Node& holder = nodes_[voter.node.value];
    return holder.replica && seat_of(holder) == voter && leader->replica->match(voter) >= settled;
  });
  return static_cast<std::size_t>(copies) >= std::min(copies_wanted_, seats);
}

/// L3.
void LogWorld::look_who_has_copies() {
  if (!calm() || is_copied()) return;
  if (now() > std::max(options_.calm_at, last_start_) + copied_within)
    throw Violation("there are fewer copies than there should be long after all was calm");
}

/// L1, L2. A node that died before all was calm comes back up to four seconds later.
void LogWorld::look_how_long_it_took() const {
  const Instant healed_at = std::max(options_.calm_at, last_start_);
  if (acknowledged_at_ > healed_at + ends_within)
    throw Violation("commands were acknowledged long after all was calm");
  if (last_election_ > healed_at + elections_stop_within)
    throw Violation("somebody was elected long after all was calm");
}

}  // namespace dag::sim
