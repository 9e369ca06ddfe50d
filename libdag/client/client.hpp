#pragma once
// The client's way to a runtime, in this process or elsewhere.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "dag/detail/fragment.hpp"
#include "dag/session.hpp"
#include "libdag/base/result.hpp"
#include "libdag/client/job_state.hpp"

namespace dag::detail {

class Client {
 public:
  virtual ~Client() = default;

  /// Starts a job whose graph has passed the checks. News of the job go to `state`, whose id is set before
  /// this returns.
  virtual Status submit(std::shared_ptr<const Fragment> graph, std::shared_ptr<JobState> state) = 0;
  /// Checks that the cluster, if there is one, would accept a job of this graph; nothing starts.
  virtual Status possible(const std::shared_ptr<const Fragment>&) { return Done{}; }
  /// The task's output will be asked for: keeps it, and tells `state` when the task has settled.
  virtual void want(JobId job, std::uint32_t task) = 0;
  /// From now on `state` gets the news of this job, whichever client submitted it.
  virtual void attach(JobId job, std::shared_ptr<JobState>) { throw Failure(no_cluster(job)); }
  /// Tasks of the submitted graph with this name, by number. Without a name: the results of the job, which
  /// are the tasks whose output no other task reads.
  virtual std::map<std::uint32_t, std::string> outputs(JobId job, const std::string&) {
    throw Failure(no_cluster(job));
  }
  virtual void cancel(JobId job) = 0;
  /// The client needs nothing of this job any more.
  virtual void forget(JobId job) = 0;
  /// Current progress of the job. Empty: `state` is told without being asked, or nobody answers.
  virtual std::optional<std::map<Outcome, std::uint64_t>> counts(JobId) { return std::nullopt; }
  virtual void on_event(std::function<void(const JobEvent&)> handler) = 0;

 private:
  static Error no_cluster(JobId job) {
    return {ErrorCode::usage, to_string(job) + " is not in this process, and no cluster is known",
            "name the cluster: --address HOST:PORT, or DAG_ADDRESS"};
  }
};

}  // namespace dag::detail
