#pragma once
// Decides when a job that ran in this process alone needs its actors no more, though its handle is kept: when
// it has ended, and the handle holds all that a client may still ask for. That is, as in a cluster, the
// output of each task that no other task reads or that is kept. A client that waited for the end has a moment
// to ask for others.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "dag/detail/fragment.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag {

/// From any thread. The ports are called with a lock held.
class EndedJobs {
 public:
  struct Ports {
    /// The job's actors are asked for this output, and owe a call of settled().
    std::function<void(JobId job, std::uint32_t task)> want;
    std::function<void(JobId job)> let_go;
    std::function<void(Duration after, std::function<void()> call)> later;
  };
  explicit EndedJobs(Ports ports) : ports_(std::move(ports)) {}

  void begin(JobId job, std::shared_ptr<const detail::Fragment> graph);
  /// Asks for the output. False: the job's actors are gone.
  bool want(JobId job, std::uint32_t task);
  void settled(JobId job, std::uint32_t task);
  /// `all_finished`: no task failed, was skipped or cancelled. Else a client may ask why.
  void ended(JobId job, bool all_finished);
  /// The job was stopped, and its waiting clients know; or its handle is gone.
  void forget(JobId job);

  /// Time in which a client that waited for the end may ask for other outputs than results.
  static constexpr Duration asks_within = std::chrono::seconds(2);
  /// A job with more tasks keeps its actors as long as its handle lives: to ask for as many outputs takes
  /// long.
  static constexpr std::size_t tasks_max = 4096;

 private:
  struct Job {
    std::shared_ptr<const detail::Fragment> graph;  ///< until it has ended
    std::set<std::uint32_t> asked, had;
    bool waits = true;  ///< for its end, or for questions
  };
  void look(std::map<JobId, Job>::iterator job);

  const Ports ports_;
  std::mutex mutex_;
  std::map<JobId, Job> jobs_;
};

}  // namespace dag
