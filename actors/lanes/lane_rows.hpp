#pragma once
// A lane's ready rows. Rows that other shards wait for come first: the news of their ends is under way while
// the rest runs. Among equals the lane takes the newest and thieves the oldest (deque.hpp).

#include <array>

#include "actors/lanes/deque.hpp"
#include "actors/lanes/lane_shard.hpp"

namespace dag {

class LaneRows {
 public:
  // By the owner.
  void push(ReadyRow ready) { deques_[ready.shard->table[ready.row].awaited ? 0 : 1].push(ready); }
  template <class Notice>
  std::optional<ReadyRow> pop(Notice&& notice) {
    if (auto ready = deques_[0].pop(notice)) return ready;
    return deques_[1].pop(notice);
  }

  // By any thread, as in a deque.
  template <class Notice>
  std::optional<ReadyRow> steal(Notice&& notice) {
    if (auto ready = deques_[0].steal(notice)) return ready;
    return deques_[1].steal(notice);
  }
  /// The approximate content, in the order in which the owner takes it; the shards must stay.
  std::vector<ReadyRow> newest_first(std::size_t count_max) const {
    std::vector<ReadyRow> rows;
    for (const Deque& deque : deques_) deque.newest_first(count_max, rows);
    return rows;
  }
  std::uint64_t size() const { return deques_[0].size() + deques_[1].size(); }
  std::array<Deque, 2>& deques() { return deques_; }

 private:
  std::array<Deque, 2> deques_;
};

}  // namespace dag
