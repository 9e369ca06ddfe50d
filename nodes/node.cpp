// Builds a node: reads like a parts list. Everything a process of libdag has is made here, and nowhere else.

#include "libdag/client/node.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>

#include "actors/node_actor.hpp"
#include "libdag/record/sink.hpp"
#include "nodes/cores.hpp"

namespace dag {
namespace {

/// CAF runs what supervises: few threads, never its own work stealing (its queues walk lists under
/// spinlocks).
struct SystemConfig : caf::actor_system_config {
  SystemConfig() {
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", std::size_t{2});
    set("logger.verbosity", caf::atom("quiet"));
  }
};

Instant steady_now() { return {std::chrono::steady_clock::now().time_since_epoch()}; }

std::shared_ptr<spdlog::logger> make_logger(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("dag", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l dag: %v");
  logger->set_level(spdlog::level::from_str(level));
  return logger;
}

/// A node whose only process is this one.
class EmbeddedNode : public detail::Client {
 public:
  explicit EmbeddedNode(const NodeOptions& options)
      : supervise_all_(options.supervise_all),
        logger_(make_logger(options.log_level)),
        system_(config_),
        lanes_({.cores = lane_cores(options.lanes), .process_name = to_string(self_.process)},
               lane_events()) {
    Ports ports;
    ports.now = steady_now;
    ports.send = [this](const Life& to, const JobMessage&) {
      logger_->error("a message for {}", to_string(to));
    };
    ports.log = [this](std::string_view line) { logger_->error("{}", line); };
    node_ = system_.spawn<NodeActor>(NodeSetup{self_, {self_}}, lanes_, ports, records_);
  }

  ~EmbeddedNode() override {
    caf::anon_send_exit(node_, caf::exit_reason::user_shutdown);
    node_ = nullptr;
    system_.await_all_actors_done();
  }

  Status submit(std::shared_ptr<const detail::Fragment> graph,
                std::shared_ptr<detail::JobState> state) override {
    auto plan = std::make_shared<JobPlan>();
    plan->job = {next_job_.fetch_add(1)};
    plan->name = state->name;
    plan->shard_of.assign(graph->tasks.size(), 0);
    plan->graph = std::move(graph);
    plan->representation = supervise_all_ ? Representation::supervised : Representation::as_needed;
    plan->seed = plan->job.value;
    state->id = plan->job;
    caf::anon_send(node_, mail::Submit{std::move(plan), follower_of(state)});
    return Done{};
  }
  void want(JobId job, std::uint32_t task) override { caf::anon_send(node_, mail::Want{job, task}); }
  void cancel(JobId job) override { caf::anon_send(node_, mail::CancelJob{job}); }
  void forget(JobId job) override { caf::anon_send(node_, mail::ForgetJob{job}); }
  void on_event(std::function<void(const JobEvent&)> handler) override {
    const std::lock_guard lock(events_mutex_);
    handler_ = std::move(handler);
  }

 private:
  static Follower follower_of(const std::weak_ptr<detail::JobState>& state) {
    Follower follower;
    follower.settled = [state](std::uint32_t task, Outcome outcome, Blob output, std::optional<Error> error) {
      if (const auto job = state.lock()) job->settle(task, {outcome, std::move(output), std::move(error)});
    };
    follower.ended = [state](const std::optional<Error>& stopped, const CellCounts& counts) {
      const auto job = state.lock();
      if (!job) return;
      if (stopped) job->lose(*stopped);
      job->end(!stopped && counts.failed == 0 && counts.cancelled == 0,
               {{Outcome::finished, counts.finished},
                {Outcome::failed, counts.failed},
                {Outcome::skipped, counts.skipped},
                {Outcome::cancelled, counts.cancelled}});
    };
    follower.lost = [state](Error why) {
      if (const auto job = state.lock()) job->lose(std::move(why));
    };
    return follower;
  }

  LaneEvents lane_events() {
    LaneEvents events;
    events.log = [this](JobId, TaskId, std::string_view task, std::string_view device,
                        std::string_view line) {
      tell({JobEvent::Kind::log, std::string(task), std::string(device), std::string(line), 0});
    };
    events.progress = [this](JobId, TaskId, std::string_view task, std::string_view device, double fraction,
                             std::string_view note) {
      tell({JobEvent::Kind::progress, std::string(task), std::string(device), std::string(note), fraction});
    };
    return events;
  }
  void tell(const JobEvent& event) {
    const std::lock_guard lock(events_mutex_);
    if (handler_) handler_(event);
  }

  const Life self_{{0}, {1}};
  const bool supervise_all_;
  std::shared_ptr<spdlog::logger> logger_;
  NullRecordSink records_;
  std::mutex events_mutex_;
  std::function<void(const JobEvent&)> handler_;
  std::atomic<std::uint64_t> next_job_{1};
  SystemConfig config_;
  caf::actor_system system_;
  Lanes lanes_;  // Ends before the actor system, whose actors are done by then.
  caf::actor node_;
};

}  // namespace

std::unique_ptr<detail::Client> start_node(const NodeOptions& options) {
  return std::make_unique<EmbeddedNode>(options);
}

}  // namespace dag
