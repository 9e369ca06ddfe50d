#include "actors/lanes/edges.hpp"

#include <algorithm>

#include "actors/lanes/edge_record.hpp"
#include "libdag/base/limits.hpp"

namespace dag {
namespace {

bool is_copied(const Blob& value) { return value.size_bytes() <= limits::ring_value_bytes_max; }

}  // namespace

bool Edges::can_write(const Peer& peer, const Blob& value) {
  return bytes_of(value) <= peer.ring.carrier->write_bytes_max() &&
         (is_copied(value) || arena::find(value).has_value());
}

std::size_t Edges::bytes_of(const Blob& value) {
  return sizeof(EdgeRecord) + (is_copied(value) ? value.size_bytes() : sizeof(HandOverRecord));
}

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

ring::Wrote Edges::write(ring::RingCarrier::Batch& turn, const EdgeNews& news) {
  const EdgeRecord head = record_of(news);
  return turn.write(EdgeRecord::kind, std::as_bytes(std::span(&head, 1)), news.value.bytes());
}

/// Where the output lies, instead of a copy.
ring::Wrote Edges::write_handed_over(ring::RingCarrier::Batch& turn, const EdgeNews& news, Life reader) {
  const std::optional<ring::HandOver> over = outputs_.lend(reader, news.value);
  if (!over) return ring::Wrote::broken;  // The reader is gone, after an earlier check.
  const EdgeRecord head = record_of(news);
  const HandOverRecord lies = record_of(*over);
  const ring::Wrote wrote = turn.write(EdgeRecord::kind_handed_over, std::as_bytes(std::span(&head, 1)),
                                       std::as_bytes(std::span(&lies, 1)));
  if (wrote != ring::Wrote::written) outputs_.take_back(reader, over->number);
  return wrote;
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
    const EdgeNews& news = left[done];
    wrote = is_copied(news.value) ? write(turn, news) : write_handed_over(turn, news, peer.ring.peer);
    if (wrote == ring::Wrote::written) {
      ++done;
    } else if (wrote == ring::Wrote::broken || !turn.want_space()) {
      break;
    }
  }
  if (wrote == ring::Wrote::broken) done = left.size();  // Closing the link makes homes tell again.
  left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(done));
  peer.held_up.store(!left.empty(), std::memory_order_release);
}

}  // namespace dag
