// The connection behind the commands of `dag`: questions, and their answers. A question about one job goes to
// whichever node leads it: others say where that is, or do not know the job
// (libdag/client/leader_search.hpp).

#include <algorithm>
#include <map>
#include <thread>

#include "libdag/client/cluster.hpp"
#include "libdag/client/leader_search.hpp"
#include "nodes/client/gateway_link.hpp"
#include "nodes/process/parts.hpp"

namespace dag::detail {
namespace {

/// A person waits, so less patience than a job has: a node that knows nothing is asked once.
constexpr SearchLimits limits_of_commands{
    .silent = std::chrono::seconds(10), .unknown = Duration{0}, .leaderless = std::chrono::seconds(10)};
constexpr Duration connect_within = std::chrono::seconds(1);
/// A node led the job if its answer about the job's end took longer than this.
constexpr Duration at_once = std::chrono::seconds(1);

/// When a question is answered.
enum class Answered { soon, at_end_of_job };

client::Answer exchange_soon(GatewayLink& link, const GatewayLink::Question& question, Duration within) {
  try {
    return link.exchange(question, within);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::timed_out) throw;
    throw Failure({ErrorCode::cluster_lost,
                   "the node at " + link.address() + " has not answered for " +
                       std::to_string(within / std::chrono::seconds(1)) + " s, though its connection stands",
                   "`dag node list --address` of another node shows which nodes are up"});
  }
}

class RemoteCluster : public Cluster {
 public:
  RemoteCluster(const std::string& address, Duration within, Duration answers_within)
      : answers_within_(answers_within), link_(address, {}, within) {}

  std::vector<NodeInfo> nodes() override { return ask<client::AskNodes>().nodes; }
  std::vector<JobInfo> jobs(std::optional<JobId> job) override {
    if (!job) return ask<client::AskJobs>(job).jobs;
    return ask_leader(
               [job](std::uint64_t number) {
                 return client::AskJobs{number, job, {}};
               },
               Answered::soon)
        .jobs;
  }
  std::vector<JobInfo> jobs(const JobFilter& which, std::uint64_t& beyond) override {
    client::Answer answer = ask<client::AskJobs>(std::optional<JobId>(), which);
    beyond = answer.jobs_beyond;
    return std::move(answer.jobs);
  }
  JobInfo wait(JobId job, std::optional<Duration> limit) override {
    client::Answer answer = ask_leader(
        [job](std::uint64_t number) {
          return client::AskEnd{number, job};
        },
        Answered::at_end_of_job, limit);
    if (answer.jobs.empty()) throw Failure({ErrorCode::job_unknown, "no such job: " + to_string(job)});
    return std::move(answer.jobs.front());
  }
  void cancel(JobId job) override {
    ask_leader([job](std::uint64_t number) { return client::AskCancel{number, job}; }, Answered::soon);
  }
  JobId retry(JobId job, bool only_unfinished) override {
    const client::Answer answer = ask_leader(
        [job, only_unfinished](std::uint64_t number) {
          return client::AskRetry{number, job, only_unfinished};
        },
        Answered::soon);
    if (!answer.job) throw Failure({ErrorCode::job_unknown, "no such job: " + to_string(job)});
    return *answer.job;
  }
  client::Answer explain(JobId job, const TaskSelector& what) override {
    return ask_leader(
        [&](std::uint64_t number) {
          return client::AskExplain{number, job, what};
        },
        Answered::soon);
  }
  JournalPage journal(client::AskJournal what) override {
    return ask<client::AskJournal>(what.job, what.read, what.logs, what.which)
        .journal.value_or(JournalPage{});
  }
  void drain(bool draining) override { ask<client::AskDrain>(draining); }
  void shutdown() override { ask<client::AskShutdown>(); }

 private:
  template <class Question, class... Fields>
  client::Answer ask(const Fields&... fields) {
    const auto question = [&](std::uint64_t number) { return Question{number, fields...}; };
    client::Answer answer = exchange_soon(link_, question, answers_within_);
    if (answer.error) throw Failure(*answer.error);
    return answer;
  }

  client::Answer ask_leader(const GatewayLink::Question& question, Answered answered,
                            std::optional<Duration> limit = std::nullopt);
  void know(const std::vector<NodeInfo>& nodes);
  GatewayLink& link_to(const std::string& node);
  void on_gone(const std::string& node);

  const Duration answers_within_;
  GatewayLink link_;
  std::string first_;  ///< the address of the node behind link_, by its own word
  std::map<std::string, std::unique_ptr<GatewayLink>> others_;
  std::vector<std::string>
      nodes_;  ///< where a job may be led; the first one last, since it was asked already
};

void RemoteCluster::know(const std::vector<NodeInfo>& nodes) {
  for (const NodeInfo& node : nodes) {
    if (is_up(node.state) && std::find(nodes_.begin(), nodes_.end(), node.endpoint.control) == nodes_.end()) {
      nodes_.push_back(node.endpoint.control);
    }
  }
}

GatewayLink& RemoteCluster::link_to(const std::string& node) {
  if (node == first_) return link_;
  std::unique_ptr<GatewayLink>& link = others_[node];
  if (link) return *link;
  link = std::make_unique<GatewayLink>(node, GatewayEvents{}, connect_within);
  return *link;
}

void RemoteCluster::on_gone(const std::string& node) {
  if (node == first_) {
    std::erase(nodes_, node);
  } else {
    others_.erase(node);  // Connected to again, if it is asked again.
  }
}

/// Waits while no node knows the job's leader: an election is under way.
std::string next_node(LeaderSearch& search) {
  for (;;) {
    const SearchStep step = search.next(steady_now());
    if (const auto* ask = std::get_if<AskNode>(&step)) return ask->address;
    if (const auto* given_up = std::get_if<GiveUp>(&step)) throw Failure(given_up->why);
    std::this_thread::sleep_for(std::get<WaitUntil>(step).at - steady_now());
  }
}

client::Answer RemoteCluster::ask_leader(const GatewayLink::Question& question, Answered answered,
                                         std::optional<Duration> limit) {
  const Instant began = steady_now();
  // Asked before it is needed: a lost node cannot list the others.
  const std::vector<NodeInfo> there = nodes();
  if (!there.empty()) first_ = there.front().endpoint.control;
  nodes_.clear();
  know(there);
  if (!nodes_.empty()) std::rotate(nodes_.begin(), nodes_.begin() + 1, nodes_.end());
  std::optional<LeaderSearch> search;
  for (std::string node = first_;; node = next_node(*search)) {
    std::optional<Instant> asked;
    client::Answer answer;
    bool gone = false;
    try {
      GatewayLink& link = link_to(node);
      asked = steady_now();
      std::optional<Duration> left = limit;
      if (left) *left -= *asked - began;
      answer = answered == Answered::soon ? exchange_soon(link, question, answers_within_)
                                          : link.exchange(question, left);
      if (!answer.error) return answer;
    } catch (const Failure& failure) {
      if (failure.error().code == ErrorCode::timed_out) throw;
      answer.error = failure.error();
      gone = true;
    }
    const Error& why = *answer.error;
    const Instant now = steady_now();
    const bool unknown = why.code == ErrorCode::job_unknown;
    const bool elsewhere = why.code == ErrorCode::job_elsewhere || why.code == ErrorCode::no_quorum;
    if (!gone && !unknown && !elsewhere) throw Failure(why);
    if (gone) on_gone(node);
    // A node that did not answer in time did not lead it: others that name it could prolong it for ever.
    const bool led = answered == Answered::at_end_of_job && asked && now - *asked > at_once;
    if (!search || led) {
      search.emplace(limits_of_commands, why, now);
      search->know(nodes_);
    }
    if (unknown) search->on_unknown(why, now);
    if (elsewhere) search->on_elsewhere(why, answer.elsewhere, now);
  }
}

}  // namespace

std::unique_ptr<Cluster> connect(const std::string& address, Duration within, Duration answers_within) {
  return std::make_unique<RemoteCluster>(address, within, answers_within);
}

}  // namespace dag::detail
