#include "actors/lanes/work_queue.hpp"

#include <algorithm>

namespace dag {

void WorkQueue::push(Work work) {
  const std::lock_guard lock(mutex_);
  bands_[static_cast<std::size_t>(work.band)].push_back(std::move(work));
  ++size_;
}

std::optional<Work> WorkQueue::take(bool newest, std::atomic<const LaneShard*>& inside) {
  const std::lock_guard lock(mutex_);
  if (size_ == 0) return std::nullopt;
  auto band = bands_.rbegin();
  while (band->empty()) ++band;
  --size_;
  Work work = std::move(newest ? band->back() : band->front());
  newest ? band->pop_back() : band->pop_front();
  inside.store(work.shard, std::memory_order_seq_cst);
  return work;
}

std::optional<Work> WorkQueue::pop(std::atomic<const LaneShard*>& inside) { return take(true, inside); }

std::optional<Work> WorkQueue::steal(std::atomic<const LaneShard*>& inside) { return take(false, inside); }

std::vector<RowIndex> WorkQueue::take_rows(const LaneShard* shard, std::size_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<RowIndex> rows;
  for (auto& band : bands_) {
    std::deque<Work> kept;
    for (Work& work : band) {
      if (rows.size() < count && work.shard == shard && work.row != no_row) {
        rows.push_back(work.row);
      } else {
        kept.push_back(std::move(work));
      }
    }
    band = std::move(kept);
  }
  size_ -= rows.size();
  return rows;
}

void WorkQueue::drop(const LaneShard* shard) {
  const std::lock_guard lock(mutex_);
  for (auto& band : bands_) {
    size_ -= std::erase_if(band, [shard](const Work& work) { return work.shard == shard; });
  }
}

std::size_t WorkQueue::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace dag
