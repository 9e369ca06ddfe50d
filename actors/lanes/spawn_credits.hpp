#pragma once
// The credit of each job that runs in this process (libdag/job/spawn_credit.hpp), as lanes and actors share
// it. A lane whose kernel has spawned takes credit before it reports the end, and waits for credit if need
// be. The credit is given back when the actor that got the report has handled it. Homes say how far they are
// ahead of the record, so spawned tasks count until the record has them.
//
// Why a lane does not wait for ever: credit comes back without any task that runs, or the lane's attempt is
// told to stop, which the lane polls. Should the record stand still, a lane goes on after its patience, so
// that any end that the record might need of this lane gets its turn.

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"
#include "libdag/job/attempt.hpp"
#include "libdag/job/spawn_credit.hpp"

namespace dag {

class SpawnCredits : public std::enable_shared_from_this<SpawnCredits> {
 public:
  /// A stop is polled: announcing it would cost each stop more than these rare looks.
  static constexpr Duration look_again_after = std::chrono::milliseconds(2);
  static constexpr Duration patience = std::chrono::seconds(10);

  explicit SpawnCredits(SpawnCredit each) : each_(each) {}
  SpawnCredits(const SpawnCredits&) = delete;
  SpawnCredits& operator=(const SpawnCredits&) = delete;

  SpawnCredit each() const { return each_; }

  /// By a lane whose kernel has spawned so much. If there is no credit: calls `waits` once, then waits until
  /// there is, or until `give_up` says true.
  template <class Waits, class GiveUp>
  std::shared_ptr<const void> take(JobId job, SpawnLoad load, Waits&& waits, GiveUp&& give_up) {
    if (!has_credit(job)) {
      waits();
      std::unique_lock lock(mutex_);
      const auto until = std::chrono::steady_clock::now() + patience;
      while (!each_.left(in_flight(job)) && !give_up() && std::chrono::steady_clock::now() < until)
        changed_.wait_for(lock, look_again_after);
    }
    return hold(job, load);
  }
  /// So much is in flight until the last copy of what this returns is destroyed.
  std::shared_ptr<const void> hold(JobId job, SpawnLoad load) {
    change(job, {}, load);
    return {this, [self = shared_from_this(), job, load](const void*) { self->change(job, load, {}); }};
  }
  /// The receiver of this end takes the credit over from the lane.
  std::shared_ptr<const void> hold(JobId job, const AttemptEnd& ended) {
    return ended.spawned ? hold(job, load_of(*ended.spawned)) : nullptr;
  }

  /// A home of the job was this far ahead of the record before, and is this far now.
  void change(JobId job, SpawnLoad before, SpawnLoad now) {
    if (before == now) return;
    const std::lock_guard lock(mutex_);
    SpawnLoad& load = jobs_[job];
    load += now;
    load -= before;
    if (load == SpawnLoad{}) jobs_.erase(job);
    changed_.notify_all();
  }

  bool has_credit(JobId job) const {
    const std::lock_guard lock(mutex_);
    return each_.left(in_flight(job));
  }
  SpawnLoad in_flight_now(JobId job) const {
    const std::lock_guard lock(mutex_);
    return in_flight(job);
  }

 private:
  SpawnLoad in_flight(JobId job) const {
    const auto found = jobs_.find(job);
    return found == jobs_.end() ? SpawnLoad{} : found->second;
  }

  const SpawnCredit each_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<JobId, SpawnLoad> jobs_;  ///< jobs that have spawned tasks in flight
};

}  // namespace dag
