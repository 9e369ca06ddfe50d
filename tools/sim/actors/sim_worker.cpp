#include "tools/sim/actors/sim_worker.hpp"

#include "nodes/process/parts.hpp"

namespace dag::sim {
namespace {

std::vector<std::string> addresses_of(const keeper::Begin& begin) {
  std::vector<std::string> addresses;
  for (const Endpoint& other : begin.others) addresses.push_back(other.control);
  return addresses;
}

}  // namespace

class SimWorker::ForNodeActor final : public ProcessPort {
 public:
  explicit ForNodeActor(SimWorker& worker) : worker_(worker) {}

  Instant now() override { return worker_.now(); }
  void log(std::string_view line) override { worker_.log_of_actors(line); }
  void send(Life to, JobMessage message) override { worker_.transport_->send(to, std::move(message)); }
  void escalate(Error why) override { worker_.fail(why.what); }
  void end_now(std::string_view why) override {
    worker_.world_.ledger.saw("lease lost");
    worker_.fail(std::string(why), ProcessEnd::stopped_by_us);
  }

 private:
  SimWorker& worker_;
};

SimWorker::SimWorker(SimWorld world, StartProcess order, Life node, std::string address,
                     SimLanesOptions lanes, std::function<void(WorkerEnd how)> ends)
    : SimProcess(world, order.life),
      order_(std::move(order)),
      its_node_(node),
      ends_(std::move(ends)),
      lanes_(lanes, world.ledger, lane_ports(), world.random.next()),
      for_node_actor_(std::make_unique<ForNodeActor>(*this)),
      cell_(order_.cell) {
  node_ = host_.system().spawn<NodeActor>(NodeSetup{self_, {self_}}, lanes_,
                                          Ports{.process = *for_node_actor_}, records_);
  open(std::move(address), transport_events());
  say_hello();
}

SimWorker::~SimWorker() { die(); }

void SimWorker::say_hello() {
  const std::string node = world_.network.address_of(its_node_);
  if (!node.empty()) transport_->connect(node);
}

SimLanesPorts SimWorker::lane_ports() {
  SimLanesPorts ports;
  ports.after = [this](Duration pause, std::function<void()> what) { after(pause, std::move(what)); };
  ports.now = [this] { return now(); };
  ports.dry = [this] { caf::anon_send(node_, mail::Dry{}); };
  ports.send_edge = [this](Life to, EdgeNews&& news) {
    std::vector<EdgeNews> one;
    one.push_back(std::move(news));
    transport_->send(to, std::move(one));
  };
  ports.edge_news = [this](std::optional<Life> from, message::PredecessorEnded&& news) {
    caf::anon_send(node_, mail::Arrived{from.value_or(self_), {std::move(news)}, [] {}});
  };
  ports.crashed = [this](std::uint32_t lane) {
    ends_({ProcessEnd::faulted, "signal 11 (Segmentation fault)", lane});
  };
  return ports;
}

class SimWorker::OnTransport final : public TransportEvents {
 public:
  explicit OnTransport(SimWorker& worker) : worker_(worker) {}

  void arrived(Life from, std::vector<JobMessage> messages, std::function<void()> handled) override {
    caf::anon_send(worker_.node_, mail::Arrived{from, std::move(messages), std::move(handled)});
  }
  void keeper(Life from, KeeperMessage message) override {
    if (const auto* order = std::get_if<keeper::Begin>(&message)) worker_.on_begin(from, *order);
  }
  void heard(Life life, bool heard) override {
    if (worker_.silences_.note(life, heard)) worker_.say_unheard();
  }
  bool has_lanes() const override { return true; }
  void edges(Life from, std::vector<EdgeNews>&& news) override {
    for (EdgeNews& one : news) worker_.lanes_.hear(from, std::move(one));
  }
  void membership(Life from, MembershipMessage message) override {
    if (worker_.membership_) caf::anon_send(worker_.membership_, mail::Heard{from, std::move(message)});
  }
  void disconnected(Life life) override {
    if (worker_.membership_) caf::anon_send(worker_.membership_, mail::LinkBroken{life});
  }
  void refused(Life life) override {
    if (life == worker_.its_node_) worker_.fail("its node is gone");
    if (worker_.membership_) caf::anon_send(worker_.membership_, mail::LinkRefused{life});
  }
  void remark(std::string_view line) override { worker_.remark(line); }

 private:
  SimWorker& worker_;
};

class SimWorker::ForMembership final : public MembershipPorts {
 public:
  explicit ForMembership(SimWorker& worker) : worker_(worker) {}

  Instant now() override { return worker_.now(); }
  void send(SendMembership message) override { worker_.transport_->send(message); }
  void up(const MemberUp& up) override { worker_.transport_->member_up(up.life, up.endpoint); }
  void down(const MemberDown& down) override { worker_.transport_->member_down(down.life); }
  LoadSummary load() override {
    const SimLanes& lanes = worker_.lanes_;
    LoadSummary load;
    load.devices.push_back({"cpu", static_cast<std::uint32_t>(lanes.count()), lanes.idle(),
                            std::uint64_t{1} << 30, std::uint64_t{1} << 30, Duration{0}});
    load.tasks_ready = static_cast<std::uint32_t>(lanes.queued());
    return load;
  }
  void over() override { worker_.fail("the other processes of its job took this one for dead"); }

 private:
  SimWorker& worker_;
};

std::unique_ptr<TransportEvents> SimWorker::transport_events() {
  return std::make_unique<OnTransport>(*this);
}

/// As WorkerNode: takes orders of any present or later leader of the job's record.
void SimWorker::on_begin(Life from, const keeper::Begin& order) {
  if (!is_node(from.process) || from != order.cell || order.job != order_.job) return;
  if (order.term < term_ || (order.term == 0 && from != order_.cell)) return;
  term_ = order.term;
  cell_ = from;
  if (!std::exchange(begun_, true)) return begin(order);
  say_unheard();
  caf::anon_send(membership_, mail::Others{addresses_of(order)});
}

void SimWorker::say_unheard() {
  transport_->send(cell_, KeeperMessage(keeper::Unheard{order_.job, silences_.lives()}));
}

void SimWorker::begin(const keeper::Begin& order) {
  MembershipSetup setup{self_, transport_->endpoint(), patience_on_one_host(), world_.random.next()};
  setup.options.seeds = addresses_of(order);
  membership_ =
      host_.system().spawn<MembershipActor>(std::move(setup), std::make_unique<ForMembership>(*this), node_);
}

/// The process ends when it is its turn again: not in the middle of an actor's step.
void SimWorker::fail(const std::string& why, ProcessEnd how) {
  after(Duration{0}, [this, why, how] {
    world_.ledger.saw("a worker process ends by itself");
    ends_({how, why});
  });
}

void SimWorker::end_actors() {
  ActorHost::kill(membership_);
  ActorHost::kill(node_);
}

}  // namespace dag::sim
