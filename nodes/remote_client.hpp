#pragma once
// The client of a shared cluster: a Session whose job runs in worker processes elsewhere.

#include <map>
#include <memory>
#include <mutex>

#include "libdag/client/client.hpp"
#include "libdag/client/node.hpp"
#include "nodes/gateway_link.hpp"

namespace dag {

class RemoteClient : public detail::Client {
 public:
  /// Throws Failure when nobody answers at options.address.
  explicit RemoteClient(const NodeOptions& options);
  ~RemoteClient() override;

  Status submit(std::shared_ptr<const detail::Fragment> graph,
                std::shared_ptr<detail::JobState> state) override;
  void want(JobId job, std::uint32_t task) override { link_->send(client::Want{job, task}); }
  void cancel(JobId job) override;
  void forget(JobId job) override;
  void on_event(std::function<void(const JobEvent&)> handler) override;

 private:
  void told(ClientMessage message);
  std::shared_ptr<detail::JobState> find(JobId job);
  void lose(const Error& why);

  const bool supervise_all_;
  std::mutex mutex_;
  std::function<void(const JobEvent&)> handler_;
  std::map<JobId, std::weak_ptr<detail::JobState>> jobs_;
  std::unique_ptr<GatewayLink> link_;
};

}  // namespace dag
