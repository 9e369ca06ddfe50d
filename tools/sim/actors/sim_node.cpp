#include "tools/sim/actors/sim_node.hpp"

#include "libdag/host/silences.hpp"
#include "nodes/process/parts.hpp"

namespace dag::sim {
namespace {

/// How far the numbers of each node's jobs had come.
std::map<ProcessId, std::uint32_t> handles_in(const NodeDisk::Found& found) {
  std::map<ProcessId, std::uint32_t> seen;
  const auto see = [&](JobId job) {
    std::uint32_t& highest = seen[node_of(job)];
    highest = std::max(highest, job.count());
  };
  for (const auto& [job, log] : found.logs) see(job);
  for (const auto& [first, last] : found.forgotten.ranges()) see(JobId{last});
  return seen;
}

}  // namespace

class SimNode::ForNodeActor final : public ProcessPort, public ReplicaTransport, public RecordLog {
 public:
  explicit ForNodeActor(SimNode& node) : node_(node) {}

  Instant now() override { return node_.now(); }
  void log(std::string_view line) override { node_.log_of_actors(line); }
  void send(Life to, JobMessage message) override { node_.transport_->send(to, std::move(message)); }
  void send(Life to, consensus::Addressed message) override {
    node_.transport_->send(to, std::move(message));
  }
  void send(Life /*to*/, keeper::SaveCopy /*copy*/) override {}

  void write(JobId job, consensus::StoredChange change, std::function<void()> written) override {
    if (node_.over()) return;
    if (node_.world_.ledger.planted == PlantedAround::written_early) std::exchange(written, [] {})();
    node_.disk_.write(job, change, std::move(written));
    node_.write_soon();
  }
  bool is_behind() const override { return false; }
  void forget(JobId job) override {
    if (node_.over()) return;
    node_.disk_.forget(job);
    node_.write_soon();
  }

 private:
  SimNode& node_;
};

class SimNode::ForKeeperActor final : public KeeperPorts {
 public:
  explicit ForKeeperActor(SimNode& node) : node_(node) {}

  Instant now() override { return node_.now(); }
  Duration since_1970() override { return node_.now().since_start; }
  void send(Life to, ClientMessage message) override { node_.transport_->send(to, std::move(message)); }
  void send(Life to, KeeperMessage message) override {
    const auto* up = std::get_if<keeper::WorkerUp>(&message);
    const bool of_others = up != nullptr && up->number == keeper::for_your_knowledge;
    if (of_others && node_.world_.ledger.planted == PlantedAround::places_untold) return;
    node_.transport_->send(to, std::move(message));
  }
  void life_at(const LifeAt& at) override { node_.transport_->member_up(at.life, at.endpoint); }
  void forget(Life life) override { node_.transport_->forget(life); }
  void start_process(StartProcess order) override {
    if (!node_.over()) node_.ports_.start_process(order);
  }
  void stop_process(Life life) override {
    if (!node_.over()) node_.ports_.stop_process(life);
  }
  Status keep_program(ProgramId program, const Blob& /*bytes*/) override {
    node_.programs_.insert(program);
    return Done{};
  }
  Blob program(ProgramId program) override {
    return node_.programs_.contains(program) ? detail::to_blob(program.hash_low) : Blob();
  }
  void drop_program(ProgramId program) override { node_.programs_.erase(program); }
  std::optional<JobDetails> details(JobId job) override { return node_.records_.details.details(job); }
  void forget_details(JobId job) override { node_.records_.details.forget(job); }
  void job_begins(const JobPlan& /*plan*/) override {}
  void job_closed(JobId /*job*/) override {}
  void job_ended(JobId /*job*/, bool /*well*/) override {}
  void spill(client::TaskSettled /*settled*/) override {}
  void keep_save(keeper::SaveCopy /*copy*/) override {}
  bool read_journal(Life /*client*/, const client::AskJournal& /*what*/) override { return false; }
  void drain(bool /*draining*/) override {}
  void shut_down() override {}

 private:
  SimNode& node_;
};

class SimNode::OnTransport final : public TransportEvents {
 public:
  explicit OnTransport(SimNode& node) : node_(node) {}

  void arrived(Life from, std::vector<JobMessage> messages, std::function<void()> handled) override {
    caf::anon_send(node_.node_, mail::Arrived{from, std::move(messages), std::move(handled)});
  }
  void client(Life from, ClientMessage message) override {
    if (is_client(from.process)) tell_keeper(mail::ClientSaid{from, std::move(message)});
  }
  void keeper(Life from, KeeperMessage message) override {
    tell_keeper(mail::KeeperSaid{from, std::move(message)});
  }
  bool copy(Life from, consensus::Addressed&& said) override {
    if (is_node(from.process)) caf::anon_send(node_.node_, mail::CopySaid{from, std::move(said)});
    return true;
  }
  void greeted(Life life, const Endpoint& endpoint, const std::string& build) override {
    if (!is_client(life.process) && !is_node(life.process)) tell_keeper(mail::Greeted{life, endpoint, build});
  }
  void heard(Life life, bool heard) override {
    if (silences_.note(life, heard))
      tell_keeper(mail::KeeperSaid{node_.self_, keeper::Unheard{{}, silences_.lives()}});
  }
  void membership(Life from, MembershipMessage message) override {
    if (node_.membership_) caf::anon_send(node_.membership_, mail::Heard{from, std::move(message)});
  }
  void disconnected(Life life) override {
    if (is_node(life.process)) caf::anon_send(node_.membership_, mail::LinkBroken{life});
  }
  void refused(Life life) override {
    if (is_node(life.process)) caf::anon_send(node_.membership_, mail::LinkRefused{life});
    if (is_client(life.process)) tell_keeper(mail::Gone{life});
  }
  void remark(std::string_view line) override { node_.remark(line); }

 private:
  template <class Mail>
  void tell_keeper(Mail mail) {
    caf::anon_send(node_.keeper_, std::move(mail));
  }

  SimNode& node_;
  Silences silences_;
};

class SimNode::ForMembership final : public MembershipPorts {
 public:
  explicit ForMembership(SimNode& node) : node_(node) {}

  Instant now() override { return node_.now(); }
  void send(SendMembership message) override { node_.transport_->send(message); }
  void up(const MemberUp& up) override { node_.transport_->member_up(up.life, up.endpoint); }
  void down(const MemberDown& down) override {
    node_.world_.ledger.saw("node down: " + std::string(name(down.why)));
    node_.transport_->member_down(down.life);
  }
  void view(std::vector<Claim> members, Hearings heard) override {
    caf::anon_send(node_.keeper_, mail::Nodes{std::move(members), std::move(heard)});
  }
  LoadSummary load() override {
    const std::uint32_t lanes = node_.options_.lanes;
    LoadSummary load;
    load.disk = node_.disk_.id();
    load.devices.push_back(
        {"cpu", lanes, lanes, std::uint64_t{1} << 34, std::uint64_t{1} << 34, Duration{0}});
    return load;
  }
  void over() override {
    node_.after(Duration{0}, [&node = node_] { node.ports_.over(); });
  }

 private:
  SimNode& node_;
};

SimNode::SimNode(SimWorld world, Life self, std::string address, const SimNodeOptions& options,
                 NodeDisk& disk, std::set<ProgramId>& programs, NodePorts cluster)
    : SimProcess(world, self),
      options_(options),
      disk_(disk),
      programs_(programs),
      ports_(std::move(cluster)),
      records_(world.ledger),
      lanes_({.lanes = 0}, world.ledger, {}, 0),
      for_node_actor_(std::make_unique<ForNodeActor>(*this)) {
  NodeSetup node{self_, {self_}};
  KeeperSetup keeper{self_, 1, true, static_cast<std::uint32_t>(options_.copies_wanted)};
  keeper.programs = programs_;
  node.records.codes = &wire::CodeMap::of_this_process();
  node.records.seat = {self_.process, disk_.id()};
  node.records.copies_wanted = options_.copies_wanted;
  NodeDisk::Found found = disk_.start();
  keeper.handles_seen = handles_in(found);
  for (const auto& [job, log] : found.logs) keeper.unread.insert(job);
  node.logs = std::move(found.logs);
  node.forgotten = std::move(found.forgotten);
  Ports ports{.process = *for_node_actor_, .listener = &listener_, .replicas = for_node_actor_.get()};
  if (options_.on_disk) ports.log = for_node_actor_.get();
  node_ = host_.system().spawn<NodeActor>(std::move(node), lanes_, ports, records_);
  keeper_ =
      host_.system().spawn<KeeperActor>(std::move(keeper), std::make_unique<ForKeeperActor>(*this), node_);
  open(std::move(address), std::make_unique<OnTransport>(*this));
  caf::anon_send(node_, mail::Recover{});
  start_membership();
}

SimNode::~SimNode() { die(); }

/// Writes batches one after the other.
void SimNode::write_soon() {
  if (write_planned_ || !disk_.begin_batch()) return;
  write_planned_ = true;
  const auto longest = static_cast<std::uint64_t>(options_.sync_max.count());
  const Duration sync(static_cast<Duration::rep>(50'000 + world_.random.below(longest + 1)));
  after(sync, [this] {
    disk_.end_batch();
    write_planned_ = false;
    write_soon();
  });
}

void SimNode::start_membership() {
  MembershipSetup setup{self_, transport_->endpoint(), patience_on_one_host(), world_.random.next()};
  setup.options.seeds = options_.addresses;
  setup.tells_loads = false;
  membership_ = host_.system().spawn<MembershipActor>(std::move(setup),
                                                      std::make_unique<ForMembership>(*this), keeper_);
}

void SimNode::process_started(Life life) { caf::anon_send(keeper_, mail::ProcessStarted{life, 1}); }

void SimNode::process_ended(Life life, ProcessEnd how, std::string text, std::vector<RunningAttempt> running,
                            std::optional<std::uint32_t> guilty_lane) {
  caf::anon_send(keeper_, mail::ProcessEnded{life, how, std::move(text), std::move(running), guilty_lane});
}

void SimNode::end_actors() {
  ActorHost::kill(membership_);
  ActorHost::kill(keeper_);
  ActorHost::kill(node_);
}

}  // namespace dag::sim
