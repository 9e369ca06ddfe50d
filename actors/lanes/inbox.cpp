#include "actors/lanes/inbox.hpp"

#include <algorithm>

namespace dag {
namespace {
constexpr auto one_less = static_cast<std::size_t>(-1);
}

void Inbox::push(Work work) {
  const std::lock_guard lock(mutex_);
  count(work, 1);
  bands_[static_cast<std::size_t>(work.band)].push_back(std::move(work));
}

std::optional<Work> Inbox::pop(Priority at_least, std::atomic<const LaneShard*>& inside, LaneRows& rows,
                               std::size_t more) {
  const std::lock_guard lock(mutex_);
  for (std::size_t band = bands_.size(); band-- > static_cast<std::size_t>(at_least);) {
    std::deque<Work>& works = bands_[band];
    if (works.empty()) continue;
    Work first = std::move(works.front());
    works.pop_front();
    inside.store(first.ready.shard, std::memory_order_seq_cst);
    const bool first_pressing = pressing(first);
    size_.fetch_sub(1, std::memory_order_release);
    if (first_pressing) pressing_.fetch_sub(1, std::memory_order_release);
    for (; more > 0 && !first_pressing && !works.empty() && !pressing(works.front()); --more) {
      rows.push(works.front().ready);  // Under the lock: see Lanes::sweep.
      works.pop_front();
      size_.fetch_sub(1, std::memory_order_release);
    }
    return first;
  }
  return std::nullopt;
}

std::vector<RowIndex> Inbox::take_rows(const LaneShard* shard, std::size_t count_max) {
  const std::lock_guard lock(mutex_);
  std::vector<RowIndex> rows;
  for (auto& band : bands_) {
    std::erase_if(band, [&](const Work& work) {
      if (rows.size() == count_max || work.dispatched || work.ready.shard != shard) return false;
      rows.push_back(work.ready.row);
      count(work, one_less);
      return true;
    });
  }
  return rows;
}

std::vector<OutputName> Inbox::take_attempts(JobId job, std::size_t count_max,
                                             const std::function<bool(const OutputName&)>& may_go) {
  std::vector<OutputName> names;
  const std::lock_guard lock(mutex_);
  for (auto band = bands_.rbegin(); band != bands_.rend(); ++band) {
    std::erase_if(*band, [&](const Work& work) {
      if (names.size() == count_max || !work.dispatched) return false;
      const Attempt& attempt = work.dispatched->attempt;
      const OutputName name{attempt.task, attempt.id};
      if (attempt.job != job || work.dispatched->cancelled->load() || !may_go(name)) return false;
      names.push_back(name);
      count(work, one_less);
      return true;
    });
  }
  return names;
}

std::unique_ptr<Dispatched> Inbox::take(JobId job, const OutputName& attempt) {
  const std::lock_guard lock(mutex_);
  for (auto& band : bands_) {
    const auto found = std::find_if(band.begin(), band.end(), [&](const Work& work) {
      return work.dispatched && work.dispatched->attempt.job == job &&
             OutputName{work.dispatched->attempt.task, work.dispatched->attempt.id} == attempt;
    });
    if (found == band.end()) continue;
    count(*found, one_less);
    std::unique_ptr<Dispatched> taken = std::move(found->dispatched);
    band.erase(found);
    return taken;
  }
  return nullptr;
}

void Inbox::each(bool first_ones, const std::function<void(JobId, TaskId)>& attempt,
                 const std::function<void(const ReadyRow&)>& row) const {
  const std::lock_guard lock(mutex_);
  std::size_t first_count = 0, seen = 0;
  for (auto band = bands_.rbegin(); band != bands_.rend(); ++band) {
    for (const Work& work : *band) {
      ++seen;
      if (pressing(work)) first_count = seen;
    }
  }
  seen = 0;
  for (auto band = bands_.rbegin(); band != bands_.rend(); ++band) {
    for (const Work& work : *band) {
      if ((++seen <= first_count) != first_ones) continue;
      if (work.dispatched) {
        attempt(work.dispatched->attempt.job, work.dispatched->attempt.task);
      } else {
        row(work.ready);
      }
    }
  }
}

void Inbox::drop(const LaneShard* shard) {
  const std::lock_guard lock(mutex_);
  for (auto& band : bands_) {
    std::erase_if(band, [&](const Work& work) {
      if (work.dispatched || work.ready.shard != shard) return false;
      count(work, one_less);
      return true;
    });
  }
}

}  // namespace dag
