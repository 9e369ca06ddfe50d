// The rules of a driver that hold between two turns.

#include <algorithm>

#include "libdag/base/check.hpp"
#include "nodes/transport/driver.hpp"

namespace dag::transport {

void Driver::check_invariants() const {
  for (const auto& [address, peer] : peers_) check_peer(peer);
  for (const auto& [life, partner] : partners_) DAG_CHECK(partner.life() == life);
  for (const auto& [life, connections] : callers_) DAG_CHECK(known_.contains(life));
  check_dead();
  DAG_CHECK(turned_away_.size() <= turned_away_max);
  DAG_CHECK(std::is_sorted(turned_away_.begin(), turned_away_.end(),
                           [](const auto& one, const auto& other) { return one.tell_at < other.tell_at; }));
}

void Driver::check_peer(const Peer& peer) {
  DAG_CHECK(!peer.welcomed || peer.life);
  DAG_CHECK(!peer.welcomed || !peer.hello_at);
  DAG_CHECK(!peer.welcomed || peer.waiting.empty());
  DAG_CHECK(peer.waiting.size() <= loose_waiting_max);
}

/// Nothing is kept for a life that is over, and nothing is sent to it.
void Driver::check_dead() const {
  for (const Life life : dead_) {
    DAG_CHECK(!partners_.contains(life));
    DAG_CHECK(!callers_.contains(life));
    DAG_CHECK(!endpoints_.contains(life));
    DAG_CHECK(!notes_dropped_.contains(life));
    const auto known = known_.find(life);
    DAG_CHECK(known == known_.end() || !known->second.kept);
  }
}

}  // namespace dag::transport
