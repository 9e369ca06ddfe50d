// The world of a node's actors, lanes and transport: each port is a class of its own.

#include "nodes/node.hpp"
#include "nodes/process/build_id.hpp"
#include "nodes/process/job_notes.hpp"
#include "nodes/process/os_process.hpp"
#include "nodes/process/process_lane_events.hpp"

namespace dag {

/// Alone there is nobody to send to, and nobody who would go on after its end.
class Node::ForNodeActor final : public OsProcess {
 public:
  explicit ForNodeActor(Node& node) : OsProcess(node.logger_), node_(node) {}

  void send(Life to, JobMessage message) override {
    if (node_.place_) return node_.transport_->send(to, std::move(message));
    node_.logger_->error("a message for {}", to_string(to));
  }
  void troubled(JobId job, Troubled what) override { node_.note(note_of(job, std::move(what))); }
  void escalate(Error why) override {
    if (node_.place_) node_.fail(std::move(why));
  }
  void end_now(std::string_view why) override {
    if (node_.place_) lose_lease(why);
  }

 private:
  Node& node_;
};

std::unique_ptr<ProcessPort> Node::process_port() { return std::make_unique<ForNodeActor>(*this); }

/// A job whose handle is gone is told nothing.
class Node::OnJobs final : public JobListener {
 public:
  explicit OnJobs(Node& node) : node_(node) {}

  void settled(JobId id, std::uint32_t task, Outcome outcome, Blob output,
               std::optional<Error> error) override {
    const auto job = node_.state_of(id);
    if (!job) return;
    job->settle(task, {outcome, std::move(output), std::move(error)});
    node_.ended_.settled(id, task);
  }
  void progress(JobId id, const CellCounts& counts) override {
    if (const auto job = node_.state_of(id)) job->count(detail::by_outcome(counts));
  }
  void ended(JobId id, std::optional<Error> stopped, const CellCounts& counts) override {
    const auto job = node_.state_of(id);
    if (!job) return;
    node_.memory_.ended(id);
    if (stopped) job->lose(*stopped);
    job->end(!stopped && counts.well(), detail::by_outcome(counts));
    if (!stopped) node_.ended_.ended(id, counts.failed + counts.skipped + counts.cancelled == 0);
  }
  void lost(JobId id, Error why) override {
    if (const auto job = node_.state_of(id)) job->lose(std::move(why));
  }

 private:
  Node& node_;
};

std::unique_ptr<JobListener> Node::job_listener() { return std::make_unique<OnJobs>(*this); }

class Node::OnLanes final : public ProcessLaneEvents {
 public:
  explicit OnLanes(Node& node) : ProcessLaneEvents(node.self_, node.node_, node.transport_), node_(node) {}

  void stuck(const OutputName& /*attempt*/, bool /*charged*/, std::string_view why) override {
    node_.logger_->error(
        "{}; it cannot be ended here, so its task waits: only a worker process ends for that (a cluster, or "
        "--dag-isolate)",
        why);
  }

 private:
  void note(wire::JobNote note) override { node_.note(std::move(note)); }

  Node& node_;
};

std::unique_ptr<LaneEvents> Node::lane_events() { return std::make_unique<OnLanes>(*this); }

class Node::OnTransport final : public ProcessEvents {
 public:
  explicit OnTransport(Node& node)
      : ProcessEvents(node.membership_, node.node_, node.lanes_, node.logger_), node_(node) {}

  void note(Life /*from*/, wire::JobNote note) override { node_.tell(event_of(std::move(note))); }
  void unwelcome(const std::string& address, const Error& why) override {
    node_.logger_->info("{} refuses this process: {}", address, why.what);
    if (node_.place_->rank != 0 && address == net::to_string(node_.place_->first)) node_.fail(why);
  }
  void turned_away(const Caller& caller, const Error& why) override { node_.on_turned_away(caller, why); }
  void broken(Life /*life*/, const Error& why) override { node_.fail(why); }

 private:
  Node& node_;
};

class Node::ForMembership final : public MembershipPorts {
 public:
  explicit ForMembership(Node& node) : node_(node) {}

  Instant now() override { return steady_now(); }
  void send(SendMembership message) override { node_.transport_->send(std::move(message)); }
  void up(const MemberUp& up) override { node_.transport_->member_up(up.life, up.endpoint); }
  void down(const MemberDown& down) override { node_.on_member_down(down); }
  LifeEnd end_of(Life life) override { return node_.running_->end_of(life.process.value); }
  LoadSummary load() override { return load_of(node_.lanes_, node_.share()); }
  void view(std::vector<Claim> members, Hearings /*heard*/) override { node_.on_view(members); }
  void over() override {
    node_.fail({ErrorCode::cluster_lost, "the other processes took this one for dead, and go on without it",
                "it did not answer for seconds: was it stopped, or the machine asleep?"});
  }

 private:
  Node& node_;
};

void Node::open_transport() {
  TransportSetup setup;
  setup.self = self_;
  setup.cluster = place_->cluster;
  if (place_->rank == 0) {
    if (setup.cluster == ClusterId{}) setup.cluster = {draw_number()};
    setup.sockets.listen = place_->first;
  }
  setup.build = build_of_this_process();
  setup.doorbell = doorbell_;
  transport_ = open_or_end({node_}, std::move(setup), std::make_unique<OnTransport>(*this));
}

void Node::start_membership() {
  MembershipSetup setup{self_, transport_->endpoint(), patience_on_one_host(), draw_number()};
  if (place_->rank != 0) setup.options.seeds = {net::to_string(place_->first)};
  membership_.open([&] {
    return system_.spawn<MembershipActor>(std::move(setup), std::make_unique<ForMembership>(*this), node_);
  });
}

}  // namespace dag
