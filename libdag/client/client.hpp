#pragma once
// The client's door to a runtime, in this process or elsewhere.

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

  /// Starts a job whose graph has passed the checks. What becomes of it is told to `state`, whose id is set
  /// before this returns.
  virtual Status submit(std::shared_ptr<const Fragment> graph, std::shared_ptr<JobState> state) = 0;
  /// Whether the cluster would accept a job of this graph, if there is a cluster; nothing starts.
  virtual Status possible(const std::shared_ptr<const Fragment>&) { return Done{}; }
  /// The output of this task will be asked for: keep it, and tell `state` when the task has settled.
  virtual void want(JobId job, std::uint32_t task) = 0;
  /// Whoever submitted it: what becomes of the job is told to `state` from now on.
  virtual void attach(JobId job, std::shared_ptr<JobState>) { throw Failure(no_cluster(job)); }
  /// Tasks of the submitted graph with this name, by their numbers; without a name its results: those of
  /// which no other task reads the output.
  virtual std::map<std::uint32_t, std::string> outputs(JobId job, const std::string&) {
    throw Failure(no_cluster(job));
  }
  virtual void cancel(JobId job) = 0;
  /// Nobody will ask for anything of this job any more.
  virtual void forget(JobId job) = 0;
  /// How far the job is now. Nothing: `state` is told of it without being asked, or nobody answers.
  virtual std::optional<std::map<Outcome, std::uint64_t>> counts(JobId) { return std::nullopt; }
  virtual void on_event(std::function<void(const JobEvent&)> handler) = 0;

 private:
  static Error no_cluster(JobId job) {
    return {ErrorCode::usage, to_string(job) + " is looked for in this process, which has no cluster",
            "say where the cluster is: --address HOST:PORT, or DAG_ADDRESS"};
  }
};

}  // namespace dag::detail
