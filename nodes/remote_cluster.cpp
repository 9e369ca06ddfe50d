// The connection behind the commands of `dag`: questions, and their answers.

#include "libdag/client/cluster.hpp"
#include "nodes/gateway_link.hpp"

namespace dag::detail {
namespace {

class RemoteCluster : public Cluster {
 public:
  explicit RemoteCluster(const std::string& address) : link_(address, {}) {}

  std::vector<NodeInfo> nodes() override { return ask<client::AskNodes>().nodes; }
  std::vector<JobInfo> jobs(std::optional<JobId> job) override { return ask<client::AskJobs>(job).jobs; }
  JobInfo wait(JobId job, std::optional<Duration> limit) override {
    client::Answer answer = link_.ask(
        [job](std::uint64_t number) {
          return client::AskEnd{number, job};
        },
        limit);
    if (answer.jobs.empty()) throw Failure({ErrorCode::job_unknown, "nothing is known of " + to_string(job)});
    return std::move(answer.jobs.front());
  }
  void cancel(JobId job) override { ask<client::AskCancel>(job); }
  void shutdown() override { ask<client::AskShutdown>(); }

 private:
  template <class Question, class... Fields>
  client::Answer ask(const Fields&... fields) {
    return link_.ask([&](std::uint64_t number) { return Question{number, fields...}; });
  }

  GatewayLink link_;
};

}  // namespace

std::unique_ptr<Cluster> connect(const std::string& address) {
  return std::make_unique<RemoteCluster>(address);
}

}  // namespace dag::detail
