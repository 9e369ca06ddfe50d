#include "actors/lanes/edges.hpp"

#include <algorithm>

#include "actors/lanes/edge_record.hpp"

namespace dag {

LaneShard* Edges::Known::find(JobId job, std::uint32_t shard) const {
  const auto found = std::find_if(shards.begin(), shards.end(),
                                  [&](const Shard& one) { return one.shard == shard && one.job == job; });
  return found == shards.end() ? nullptr : found->here;
}

std::shared_ptr<const Edges::Known> Edges::known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

/// `how` changes a copy; true: homes are to know.
template <class Change>
void Edges::change(Change&& how) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<Known>(*known_);
  const bool rings = how(*next);
  ++next->version;
  known_ = next;
  version_.store(next->version, std::memory_order_seq_cst);
  if (!rings) return;
  for (const Shard& shard : next->shards) {
    if (shard.here->reach_changed) shard.here->reach_changed();
  }
}

void Edges::add_ring(PeerRing ring) {
  change([&](Known& known) {
    auto peer = std::make_shared<Peer>();
    peer->ring = std::move(ring);
    known.peers.push_back(std::move(peer));
    return true;
  });
}
void Edges::remove_ring(Life peer) {
  change([&](Known& known) {
    return std::erase_if(known.peers, [&](const auto& one) { return one->ring.peer == peer; }) > 0;
  });
}
void Edges::add_shard(LaneShard& shard) {
  change([&](Known& known) {
    const Routes& routes = shard.table.routes();
    known.shards.push_back({routes.job, routes.shard, &shard});
    return false;
  });
}
void Edges::remove_shard(const LaneShard& shard) {
  change([&](Known& known) {
    std::erase_if(known.shards, [&](const Shard& one) { return one.here == &shard; });
    return false;
  });
}

void Edges::write(Peer& peer, std::vector<EdgeNews>& batch) {
  ring::RingCarrier::Batch turn = peer.ring.carrier->begin();
  std::vector<EdgeNews>& left = peer.left_over;
  // In order: nothing passes what is left over.
  std::move(batch.begin(), batch.end(), std::back_inserter(left));
  batch.clear();
  std::size_t done = 0;
  ring::Wrote wrote = ring::Wrote::written;
  while (done < left.size()) {
    const EdgeRecord head = record_of(left[done]);
    wrote = turn.write(EdgeRecord::kind, std::as_bytes(std::span(&head, 1)), left[done].value.bytes());
    if (wrote == ring::Wrote::written) {
      ++done;
    } else if (wrote == ring::Wrote::broken || !turn.want_space()) {
      break;
    }
  }
  if (wrote == ring::Wrote::broken) done = left.size();  // Whoever closes the link makes homes tell again.
  left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(done));
  peer.held_up.store(!left.empty(), std::memory_order_release);
}

}  // namespace dag
