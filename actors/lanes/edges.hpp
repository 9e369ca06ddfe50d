#pragma once
// State shared by all lanes of a process for telling lanes of other processes, and of other shards here, that
// a row ended: the rings, the shards here, and news that did not fit into a ring. lane_edges.cpp has a lane's
// use of it; libdag/job/edge_news.hpp has the meaning of the news.
//
// Lanes look at a snapshot (Known) and compare a number to see that it is old, without a lock. A shard is a
// bare pointer in the snapshot. Why it does not go away under a lane: the thread that takes a shard off the
// list changes the number before it looks whether a lane is inside of that shard; a lane says that it is
// inside and then looks at the number. One of them sees the other.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/lanes/lane_shard.hpp"
#include "actors/lanes/peer_ring.hpp"
#include "actors/lanes/shared_outputs.hpp"
#include "libdag/job/edge_news.hpp"

namespace dag {

class Edges {
 public:
  struct Peer {
    PeerRing ring;
    /// News that found the ring full, in order; guarded by the turn to write. At most a batch per lane: until
    /// it is written, lanes tell this peer nothing more, and homes tell it everything.
    std::vector<EdgeNews> left_over;
    std::atomic<bool> held_up{false};
  };
  struct Shard {
    JobId job;
    std::uint32_t shard = 0;
    LaneShard* here = nullptr;
  };
  struct Known {
    std::uint64_t version = 0;
    std::vector<std::shared_ptr<Peer>> peers;
    std::vector<Shard> shards;

    /// Null: the shard is not here. The returned shard may be gone by now, see above.
    LaneShard* find(JobId job, std::uint32_t shard) const;
  };

  // From any thread. Homes are told of each change of rings (LaneShard::reach_changed).
  void add_ring(PeerRing ring);
  void remove_ring(Life peer);
  void add_shard(LaneShard& shard);
  void remove_shard(const LaneShard& shard);

  std::uint64_t version() const { return version_.load(std::memory_order_seq_cst); }
  std::shared_ptr<const Known> known() const;

  /// True: news with this output fit the peer's ring. bytes_of: their size in it.
  static bool can_write(const Peer& peer, const Blob& value);
  static std::size_t bytes_of(const Blob& value);
  /// Writes left_over and then `batch`, which is empty afterwards: news that do not fit become left_over.
  void write(Peer& peer, std::vector<EdgeNews>& batch);
  void write_left_over(Peer& peer) {
    std::vector<EdgeNews> nothing_new;
    write(peer, nothing_new);
  }

  /// Large outputs that are read where they lie, in both directions.
  SharedOutputs& outputs() { return outputs_; }

 private:
  static ring::Wrote write(ring::RingCarrier::Batch& turn, const EdgeNews& news);
  ring::Wrote write_handed_over(ring::RingCarrier::Batch& turn, const EdgeNews& news, Life reader);
  template <class Change>
  void change(Change&& how);
  SharedOutputs outputs_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Known> known_ = std::make_shared<const Known>();
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace dag
