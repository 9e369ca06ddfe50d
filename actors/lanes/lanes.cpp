#include "actors/lanes/lanes.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

#include "actors/lanes/lane.hpp"

namespace dag {
namespace {

/// How long the end of the process waits for kernels that were told to stop.
constexpr auto stop_grace = std::chrono::seconds(2);

void pin_to(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // Refused in some containers: then unpinned.
}

}  // namespace

Lanes::Lanes(LanesOptions options, LaneEvents events)
    : options_(std::move(options)), events_(std::move(events)) {
  for (const auto& others : options_.victims) DAG_CHECK(others.size() + 1 == options_.cores.size());
  for (const int core : options_.cores) lanes_.push_back(std::make_shared<Lane>(*this, lanes_.size(), core));
  const std::lock_guard lock(lanes_mutex_);  // A lane looks for work in the whole list.
  for (const auto& lane : lanes_) start_thread(lane);
}

Lanes::~Lanes() {
  stopping_.store(true);
  pushes_.fetch_add(1);
  pushes_.notify_all();
  const auto deadline = LaneClock::now() + stop_grace;
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    const std::lock_guard lock(lanes_mutex_);
    lanes = lanes_;
  }
  {
    const std::lock_guard lock(handed_out_mutex_);
    for (const auto& [key, cancelled] : handed_out_) cancelled->store(true);
  }
  for (const auto& lane : lanes) {
    std::unique_lock lock(lane->mutex);
    const bool ended = lane->ended.wait_until(lock, deadline, [&] { return lane->done; });
    lock.unlock();
    if (ended) {
      lane->thread.join();
    } else {
      lane->abandoned.store(true);
      lane->thread.detach();
    }
  }
}

void Lanes::start_thread(const std::shared_ptr<Lane>& lane) {
  lane->thread = std::thread([this, lane] {
    pin_to(lane->core);
    if (options_.running != nullptr) watch_this_lane(lane->index);
    pthread_setname_np(pthread_self(), ("dag-lane" + std::to_string(lane->index)).substr(0, 15).c_str());
    run(*lane);
    const std::lock_guard lock(lane->mutex);
    lane->done = true;
    lane->ended.notify_all();
  });
}

void Lanes::push(Work work) {
  {
    const std::lock_guard lock(lanes_mutex_);
    DAG_CHECK(!lanes_.empty());
    const std::size_t lane = next_lane_.fetch_add(1, std::memory_order_relaxed) % lanes_.size();
    lanes_[lane]->queue.push(std::move(work));
  }
  wake_one();
}

void Lanes::wake_one() {
  pushes_.fetch_add(1, std::memory_order_seq_cst);
  if (idle_.load(std::memory_order_seq_cst) > 0) pushes_.notify_one();
}

void Lanes::make_ready(LaneShard& shard, RowIndex row, Priority band) { push({&shard, row, nullptr, band}); }

void Lanes::start(Attempt attempt, Priority band, std::function<void(Ended&&)> done) {
  const AttemptKey key{attempt.job, attempt.task, attempt.id};
  auto work = std::make_unique<HandedOut>(std::move(attempt), std::move(done));
  {
    const std::lock_guard lock(handed_out_mutex_);
    handed_out_[key] = work->cancelled;
  }
  push({nullptr, no_row, std::move(work), band});
}

void Lanes::cancel(JobId job, TaskId task, AttemptId attempt) {
  const std::lock_guard lock(handed_out_mutex_);
  const auto found = handed_out_.find({job, task, attempt});
  if (found != handed_out_.end()) found->second->store(true);
}

bool Lanes::abandon(JobId job, TaskId task, AttemptId attempt) {
  const std::lock_guard lock(lanes_mutex_);
  for (auto& lane : lanes_) {
    const std::shared_ptr<Lane> old = lane;
    {
      const std::lock_guard running(old->mutex);
      if (old->running != AttemptKey{job, task, attempt}) continue;
      old->abandoned.store(true);  // Under the lock that its thread takes when the kernel has returned.
    }
    lane = std::make_shared<Lane>(*this, old->index, old->core);
    std::atomic<const LaneShard*> moving{nullptr};
    while (auto work = old->queue.steal(moving)) lane->queue.push(std::move(*work));
    old->thread.detach();
    start_thread(lane);
    const std::lock_guard forgotten(handed_out_mutex_);
    handed_out_.erase({job, task, attempt});
    return true;
  }
  return false;
}

std::vector<RowIndex> Lanes::take_rows(const LaneShard& shard, std::size_t count) {
  const std::lock_guard lock(lanes_mutex_);
  std::vector<RowIndex> rows;
  for (const auto& lane : lanes_) {
    if (rows.size() == count) break;
    const auto some = lane->queue.take_rows(&shard, count - rows.size());
    rows.insert(rows.end(), some.begin(), some.end());
  }
  return rows;
}

void Lanes::retire(std::shared_ptr<LaneShard> shard) {
  {
    const std::lock_guard lock(lanes_mutex_);
    for (const auto& lane : lanes_) lane->queue.drop(shard.get());
    const std::lock_guard retired(retired_mutex_);
    retired_.push_back(std::move(shard));
    retired_count_.fetch_add(1);
  }
  let_go_of_retired();
}

void Lanes::let_go_of_retired() {
  std::vector<std::shared_ptr<LaneShard>> gone;  // Destroyed outside the locks.
  const std::lock_guard lanes_lock(lanes_mutex_);
  const std::lock_guard lock(retired_mutex_);
  for (auto shard = retired_.begin(); shard != retired_.end();) {
    const bool in_use = std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) {
      return lane->inside.load() == shard->get() || lane->reporting.load() == shard->get();
    });
    if (in_use) {
      ++shard;
    } else {
      gone.push_back(std::move(*shard));
      shard = retired_.erase(shard);
      retired_count_.fetch_sub(1);
    }
  }
}

std::size_t Lanes::queued() const {
  const std::lock_guard lock(lanes_mutex_);
  std::size_t total = 0;
  for (const auto& lane : lanes_) total += lane->queue.size();
  return total;
}

}  // namespace dag
