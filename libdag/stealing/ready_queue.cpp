#include "libdag/stealing/ready_queue.hpp"

#include <algorithm>
#include <tuple>

#include "libdag/base/check.hpp"

namespace dag {

bool ReadyQueue::RunsBefore::operator()(const Entry& a, const Entry& b) const {
  // Higher bands and longer ways first, so those two are swapped.
  return std::tie(b.task.priority, b.task.upward_rank, a.arrival) <
         std::tie(a.task.priority, a.task.upward_rank, b.arrival);
}

bool ReadyQueue::push(const ReadyTask& task) {
  if (arrival_.size() >= tasks_max_) return false;
  DAG_CHECK(!arrival_.contains(task.task));
  const auto [at, is_new] = order_.insert({task, next_arrival_++});
  DAG_CHECK(is_new);
  arrival_.emplace(task.task, at);
  if (task.is_actor_call) ++actor_calls_;
  return true;
}

void ReadyQueue::erase(std::set<Entry, RunsBefore>::iterator entry) {
  if (entry->task.is_actor_call) --actor_calls_;
  arrival_.erase(entry->task.task);
  order_.erase(entry);
}

std::optional<ReadyTask> ReadyQueue::next() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->task;
}

std::optional<ReadyTask> ReadyQueue::pop() {
  const auto first = next();
  if (first) erase(order_.begin());
  return first;
}

bool ReadyQueue::remove(TaskId task) {
  const auto found = arrival_.find(task);
  if (found == arrival_.end()) return false;
  erase(found->second);
  return true;
}

std::vector<ReadyTask> ReadyQueue::give_away(std::uint32_t slots) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : order_) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(),
            [](const Entry* a, const Entry* b) { return a->arrival < b->arrival; });
  std::vector<ReadyTask> oldest_first;
  for (const Entry* entry : entries) oldest_first.push_back(entry->task);
  std::vector<ReadyTask> given;
  for (const std::size_t index : what_to_give(oldest_first, slots)) {
    given.push_back(oldest_first[index]);
    remove(oldest_first[index].task);
  }
  return given;
}

std::vector<std::size_t> what_to_give(const std::vector<ReadyTask>& oldest_first, std::uint32_t slots) {
  std::vector<std::size_t> may_go;
  for (std::size_t index = 0; index < oldest_first.size(); ++index) {
    if (!oldest_first[index].is_actor_call) may_go.push_back(index);
  }
  std::stable_partition(may_go.begin(), may_go.end(),
                        [&](std::size_t index) { return !oldest_first[index].has_remote_inputs; });
  may_go.resize(std::min<std::size_t>((may_go.size() + 1) / 2, slots));
  return may_go;
}

}  // namespace dag
