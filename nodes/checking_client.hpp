#pragma once
// A Session with `--dag-check`: each job runs twice in this process, and once in worker processes, before
// `submit` returns; the outputs are compared. The first of the three runs is the job that the program sees.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "nodes/isolated_client.hpp"
#include "nodes/node.hpp"

namespace dag {

class CheckingClient : public detail::Client {
 public:
  /// Throws Failure when one of the two nodes cannot be built.
  explicit CheckingClient(const NodeOptions& options);

  /// Refused with not_reproducible when a task's output differs in a process of its own.
  Status submit(std::shared_ptr<const detail::Fragment> graph,
                std::shared_ptr<detail::JobState> state) override;
  void want(JobId job, std::uint32_t task) override { here_.want(job, task); }
  void cancel(JobId job) override { here_.cancel(job); }
  void forget(JobId job) override { here_.forget(job); }
  void on_event(std::function<void(const JobEvent&)> handler) override;

 private:
  void hear(const JobEvent& event);

  std::mutex mutex_;
  std::function<void(const JobEvent&)> handler_;
  /// The job runs again: its kernels' log lines are dropped, since the first run logged them.
  std::atomic<bool> repeating_ = false;
  Node here_;
  IsolatedClient elsewhere_;
};

}  // namespace dag
