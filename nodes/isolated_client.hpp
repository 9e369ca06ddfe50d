#pragma once
// A Session whose kernels run in worker processes without a cluster: this process is a node and its client at
// once (`--isolate`). As one process of `dag run` it is a node of that run's cluster.

#include <memory>

#include "nodes/client/remote_client.hpp"
#include "nodes/keeper/keeper.hpp"
#include "nodes/process/place.hpp"

namespace dag {

/// How far the options let a job spawn ahead of its record.
SpawnCredit spawn_credit_of(const NodeOptions& options);

/// A node for this process; of a run, that of its rank.
KeeperOptions isolated_node(const NodeOptions& options, const std::optional<Place>& place);

class IsolatedClient : public detail::Client {
 public:
  /// Throws Failure when the node cannot be built, or the other processes of the run do not come.
  IsolatedClient(const NodeOptions& options, const std::optional<Place>& place);

  Status submit(std::shared_ptr<const detail::Fragment> graph,
                std::shared_ptr<detail::JobState> state) override {
    return client_->submit(std::move(graph), std::move(state));
  }
  Status possible(const std::shared_ptr<const detail::Fragment>& graph) override {
    return client_->possible(graph);
  }
  void want(JobId job, std::uint32_t task) override { client_->want(job, task); }
  void attach(JobId job, std::shared_ptr<detail::JobState> state) override {
    client_->attach(job, std::move(state));
  }
  std::map<std::uint32_t, std::string> outputs(JobId job, const std::string& name) override {
    return client_->outputs(job, name);
  }
  void cancel(JobId job) override { client_->cancel(job); }
  void forget(JobId job) override { client_->forget(job); }
  std::optional<std::map<Outcome, std::uint64_t>> counts(JobId job) override { return client_->counts(job); }
  void on_event(std::function<void(const JobEvent&)> handler) override {
    client_->on_event(std::move(handler));
  }

 private:
  Keeper keeper_;
  std::unique_ptr<RemoteClient> client_;  ///< ends before its node
};

}  // namespace dag
