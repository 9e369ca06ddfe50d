#include "actors/lanes/lanes.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

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

/// Sets the niceness of this thread alone, as Linux does. A thread that is nicer already stays so.
void give_way(std::uint32_t niceness) {
  const auto self = static_cast<id_t>(gettid());
  if (static_cast<int>(niceness) > getpriority(PRIO_PROCESS, self))
    setpriority(PRIO_PROCESS, self, static_cast<int>(niceness));
}

}  // namespace

Lanes::Lanes(LanesOptions options, std::unique_ptr<LaneEvents> events)
    : options_(std::move(options)),
      events_(events != nullptr ? std::move(events) : std::make_unique<LaneEvents>()),
      spawn_credits_(std::make_shared<SpawnCredits>(options_.spawn_credit)),
      wake_ticks_(clock_.ticks(wake_cost)),
      pressing_ticks_(clock_.ticks(pressing_age_max)),
      age_ticks_(clock_.ticks(report_age_max)),
      edge_ticks_(clock_.ticks(edge_age_max)),
      clock_again_ticks_(clock_.ticks(clock_age_max)),
      lanes_(options_.cores.size()),
      bells_(options_.doorbell ? options_.doorbell->bells() : own_bells_.bells()) {
  begin_running_kernels();
  for (const auto& others : options_.victims) DAG_CHECK(others.size() + 1 == options_.cores.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    all_lanes_.push_back(std::make_shared<Lane>(*this, i, options_.cores[i]));
    lanes_[i].store(all_lanes_.back().get());
  }
  ear_ = std::make_shared<Lane>(*this, lanes_.size(), -1);
  all_lanes_.push_back(ear_);
  // Lanes look for work in the whole list.
  for (std::size_t i = 0; i < lanes_.size(); ++i) start_thread(all_lanes_[i]);
  if (!lanes_.empty()) watch_ = std::thread([this] { watch_stragglers(); });
}

Lanes::~Lanes() { stop(); }

void Lanes::stop() {
  {
    const std::lock_guard lock(listener_mutex_);  // None begins from here on.
    stopping_.store(true);
  }
  const auto deadline = LaneClock::now() + stop_grace;
  {
    const std::lock_guard lock(dispatched_mutex_);
    for (const auto& [key, cancelled] : dispatched_) cancelled->store(true);
  }
  std::vector<std::shared_ptr<Lane>> every;
  {
    const std::lock_guard lock(lanes_mutex_);
    every = all_lanes_;
  }
  // A lane that is about to sleep sees `stopping_`, or is seen here.
  bells_.workers.ring_all();
  bells_.workers.rouse();
  bells_.listener.ring_all();
  bells_.listener.rouse();
  if (listener_.joinable()) listener_.join();
  {
    const std::lock_guard lock(watch_mutex_);  // The watch is about to wait, or looks at `stopping_`.
    watch_called_.notify_one();
  }
  if (watch_.joinable()) watch_.join();
  for (const auto& each : every) {
    std::unique_lock lock(each->mutex);
    if (!each->thread.joinable()) {  // Abandoned before.
      each->cut_off = true;
      continue;
    }
    const bool ended = each->ended.wait_until(lock, deadline, [&] { return each->done; });
    each->abandoned.store(each->abandoned.load() || !ended);
    each->cut_off = !ended;
    lock.unlock();
    if (ended) {
      each->thread.join();
    } else {
      each->thread.detach();
    }
  }
}

void Lanes::start_thread(const std::shared_ptr<Lane>& lane) {
  lane->thread = std::thread([this, lane] {
    pin_to(lane->core);
    give_way(options_.niceness);
    if (options_.running != nullptr) watch_this_lane(lane->index);
    pthread_setname_np(pthread_self(),
                       (std::string(thread_name) + std::to_string(lane->index)).substr(0, 15).c_str());
    run(*lane);
    const std::lock_guard lock(lane->mutex);
    lane->done = true;
    lane->ended.notify_all();
  });
}

void Lanes::make_ready(LaneShard& shard, RowIndex row, Priority band) {
  DAG_CHECK(!lanes_.empty());
  inbox_.push({{&shard, row}, nullptr, band});
  work_was_added();
}

void Lanes::start(Attempt attempt, Priority band, std::function<void(AttemptEnd&&)> done,
                  std::function<void(Saved&&)> saved, std::function<void()> began) {
  const AttemptKey key{attempt.job, attempt.task, attempt.id};
  auto work =
      std::make_unique<Dispatched>(std::move(attempt), std::move(done), std::move(saved), std::move(began));
  {
    const std::lock_guard lock(dispatched_mutex_);
    dispatched_[key] = work->cancelled;
  }
  DAG_CHECK(!lanes_.empty());
  inbox_.push({{}, std::move(work), band});
  note_queue();
  work_was_added();
}

void Lanes::cancel(JobId job, TaskId task, AttemptId attempt) {
  {
    const std::lock_guard lock(dispatched_mutex_);
    const auto found = dispatched_.find({job, task, attempt});
    if (found == dispatched_.end()) return;
    found->second->store(true);
  }
  const std::unique_ptr<Dispatched> waited = inbox_.take(job, {task, attempt});
  if (!waited) return;
  {
    const std::lock_guard lock(dispatched_mutex_);
    dispatched_.erase({job, task, attempt});
  }
  waited->done(cancelled_end(waited->attempt));
}

bool Lanes::abandon(JobId job, TaskId task, AttemptId attempt) {
  const std::lock_guard lock(lanes_mutex_);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& old = lane(i);
    {
      const std::lock_guard running(old.mutex);
      if (old.running != AttemptKey{job, task, attempt}) continue;
      old.abandoned.store(true);  // Under the lock that its thread takes when the kernel has returned.
      end_progress(old);
    }
    auto fresh = std::make_shared<Lane>(*this, i, old.core);
    // Its owner will not touch its deque again. Thieves may still be there, and find what is left.
    while (old.rows.size() > 0) {
      if (auto ready = old.rows.steal([](LaneShard*) {})) inbox_.push({*ready, nullptr, Priority::normal});
    }
    old.thread.detach();
    // The lane does not run it any more, whatever the thread does.
    if (options_.running != nullptr) options_.running->end(i, true, lane_now() - old.running_since);
    lanes_[i].store(fresh.get(), std::memory_order_release);
    alone_.leave(&old);  // Others do not wait for it.
    all_lanes_.push_back(fresh);
    start_thread(fresh);
    const std::lock_guard forgotten(dispatched_mutex_);
    dispatched_.erase({job, task, attempt});
    return true;
  }
  return false;
}

std::vector<OutputName> Lanes::take_attempts(JobId job, std::size_t count,
                                             const std::function<bool(const OutputName&)>& may_go) {
  std::vector<OutputName> names = inbox_.take_attempts(job, count, may_go);
  const std::lock_guard lock(dispatched_mutex_);
  for (const OutputName& name : names) dispatched_.erase({job, name.task, name.attempt});
  return names;
}

std::vector<RowIndex> Lanes::take_rows(const LaneShard& shard, std::size_t count) {
  const std::lock_guard lock(lanes_mutex_);  // A sweep must not miss rows that are put back.
  std::vector<RowIndex> rows = inbox_.take_rows(&shard, count);
  std::vector<ReadyRow> others;
  for (std::size_t i = 0; i < lanes_.size() && rows.size() < count; ++i) {
    LaneRows& queued = lane(i).rows;
    for (std::uint64_t left = queued.size(); left > 0 && rows.size() < count; --left) {
      const auto ready = queued.steal([](LaneShard*) {});
      if (!ready) continue;  // A lane was faster.
      if (ready->shard == &shard) {
        rows.push_back(ready->row);
      } else {
        others.push_back(*ready);
      }
    }
  }
  for (const ReadyRow& other : others) inbox_.push({other, nullptr, Priority::normal});
  if (!others.empty()) work_was_added();
  return rows;
}

void Lanes::retire(std::shared_ptr<LaneShard> shard) {
  edges_.remove_shard(*shard);
  shard->retired.store(true, std::memory_order_seq_cst);
  {
    const std::lock_guard lock(lanes_mutex_);
    retired_.push_back(std::move(shard));
    retired_count_.fetch_add(1);
  }
  let_go_of_retired();
}

bool Lanes::nobody_inside(const LaneShard* shard) const {
  return std::none_of(all_lanes_.begin(), all_lanes_.end(), [shard](const auto& lane) {
    return !lane->abandoned.load() && lane->inside.load() == shard;
  });
}

/// Takes the rows of a retired shard out of all queues. The inbox first: rows move from there to deques,
/// under its lock; back they move only under lanes_mutex_, which the caller holds.
void Lanes::sweep(const LaneShard* shard) {
  inbox_.drop(shard);
  std::vector<ReadyRow> others;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    for (Deque& deque : lane(i).rows.deques()) {
      const std::uint64_t until = deque.taken() + deque.size();  // Rows pushed later are not of this shard.
      while (deque.taken() < until && deque.size() > 0) {
        const auto ready = deque.steal([](LaneShard*) {});
        if (ready && ready->shard != shard) others.push_back(*ready);
      }
    }
  }
  for (const ReadyRow& other : others) inbox_.push({other, nullptr, Priority::normal});
  if (!others.empty()) work_was_added();
}

void Lanes::let_go_of_retired() {
  std::vector<std::shared_ptr<LaneShard>> gone;  // Destroyed outside the lock.
  const std::lock_guard lock(lanes_mutex_);
  std::erase_if(retired_, [&](std::shared_ptr<LaneShard>& shard) {
    if (!nobody_inside(shard.get())) return false;
    sweep(shard.get());
    if (!nobody_inside(shard.get())) return false;
    gone.push_back(std::move(shard));
    retired_count_.fetch_sub(1);
    return true;
  });
}

std::size_t Lanes::queued() const {
  std::size_t total = inbox_.size();
  for (std::size_t i = 0; i < lanes_.size(); ++i) total += lane(i).rows.size();
  return total;
}

void Lanes::note_queue() const {
  if (options_.running != nullptr) options_.running->queue(queued(), lane_now());
}

std::vector<RunningNow> Lanes::running_now() const {
  std::vector<RunningNow> now;
  if (options_.running == nullptr) return now;
  const std::int64_t at = clock_.now();
  for (const RunningPage::Attempt& attempt : options_.running->running())
    now.push_back({attempt.task, attempt.attempt, attempt.lane, clock_.span(at - attempt.began)});
  const std::lock_guard lock(lanes_mutex_);
  for (const auto& old : all_lanes_) {
    if (!old->abandoned.load() || now.size() == running_max) continue;
    const std::lock_guard running(old->mutex);
    if (!old->running) continue;  // Its kernel has returned.
    now.push_back({.task = old->running->task,
                   .attempt = old->running->attempt,
                   .lane = static_cast<std::uint32_t>(old->index),
                   .ran = lane_now() - old->running_since,
                   .given_up = true,
                   .number = old->number});
  }
  return now;
}

/// Orders as lanes look for work (find_work): what comes before something pressing, then what lanes made
/// ready themselves, each its newest first, then the rest. What lanes steal from each other is not foreseen.
std::map<TaskId, std::uint64_t> Lanes::places(JobId job) const {
  std::map<TaskId, std::uint64_t> places;
  std::uint64_t turn = 0;
  const auto add = [&](JobId of, TaskId task) {
    if (++turn <= places_max && of == job) places.emplace(task, turn);
  };
  // No shard goes while this is locked, so rows that lie in a queue can be looked at.
  const std::lock_guard lock(lanes_mutex_);
  const auto add_row = [&](const ReadyRow& ready) {
    add(ready.shard->job, ready.shard->table.id(ready.row));
  };
  inbox_.each(true, add, add_row);
  std::vector<std::vector<ReadyRow>> queued(lanes_.size());
  std::size_t longest = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    queued[i] = lane(i).rows.newest_first(places_max);
    longest = std::max(longest, queued[i].size());
  }
  for (std::size_t k = 0; k < longest; ++k) {
    for (const auto& rows : queued) {
      if (k < rows.size()) add_row(rows[k]);
    }
  }
  inbox_.each(false, add, add_row);
  return places;
}

}  // namespace dag
