#pragma once
// Keeps this process from being killed for lack of memory. A submission waits while earlier jobs hold the
// memory that it needs, and is refused when it can never run. The youngest job is stopped when memory runs
// out all the same. The rules are in libdag/keeper/memory_bounds.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/result.hpp"
#include "libdag/keeper/memory_bounds.hpp"

namespace dag {

/// The limits of this process at present: its address space (`ulimit -v`), its control group's memory and the
/// machine's. Limits that do not exist are left out.
std::vector<MemoryBound> memory_bounds_here();

class MemoryWatch {
 public:
  /// `stop` is called from the watch's own thread, at most once for each job.
  explicit MemoryWatch(std::function<void(JobId, Error)> stop);
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Returns when there is room for the job beside the others; after some seconds, or when all others have
  /// ended and stay, when there is room at all. memory_exhausted otherwise.
  Status enter(JobId job, const detail::Fragment& graph);
  /// Adds a job without waiting: it runs in processes of its own, and only its cell's memory is here.
  void add(JobId job, const detail::Fragment& graph);
  /// All tasks of the job have ended; its outputs stay until its handle goes.
  void ended(JobId job);
  /// The job's memory is given back, or is about to be.
  void leave(JobId job);

 private:
  struct Entered {
    std::uint64_t most = 0;
    bool ended = false, stopped = false;
  };

  void add_locked(JobId job, const JobMemory& need);
  void look();
  void look_closely();
  bool fits_beside_others(std::uint64_t bytes) const;
  bool worth_waiting(std::chrono::steady_clock::time_point since) const;
  void watch();

  const std::function<void(JobId, Error)> stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<JobId, Entered> jobs_;
  std::vector<MemoryBound> bounds_;
  std::chrono::steady_clock::time_point looked_, changed_at_;
  /// The bounds when the last job entered that found no other job.
  std::vector<MemoryBound> without_jobs_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace dag
