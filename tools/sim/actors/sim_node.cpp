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

SimNode::SimNode(SimWorld world, Life self, std::string address, const SimNodeOptions& options,
                 NodeDisk& disk, std::set<ProgramId>& programs, NodePorts ports)
    : SimProcess(world, self),
      options_(options),
      disk_(disk),
      programs_(programs),
      ports_(std::move(ports)),
      records_(world.ledger),
      lanes_({.lanes = 0}, world.ledger, {}, 0) {
  Ports outside;
  outside.now = [this] { return now(); };
  outside.log = [this](std::string_view line) { log_of_actors(line); };
  outside.send = [this](Life to, JobMessage message) { transport_->send(to, std::move(message)); };
  outside.inspect = [this](const std::function<void()>& checks) { inspect(checks); };
  NodeSetup node{self_, {self_}};
  KeeperSetup keeper{self_, 1, true, static_cast<std::uint32_t>(options_.copies_wanted)};
  keeper.programs = programs_;
  node.records = record_ports();
  NodeDisk::Found found = disk_.start();
  keeper.handles_seen = handles_in(found);
  for (const auto& [job, log] : found.logs) keeper.unread.insert(job);
  node.logs = std::move(found.logs);
  node.forgotten = std::move(found.forgotten);
  node_ = host_.system().spawn<NodeActor>(std::move(node), lanes_, std::move(outside), records_);
  keeper_ = host_.system().spawn<KeeperActor>(std::move(keeper), keeper_ports(), node_);
  open(std::move(address), transport_events());
  caf::anon_send(node_, mail::Recover{});
  start_membership();
}

RecordPorts SimNode::record_ports() {
  RecordPorts ports;
  ports.send = [this](Life to, consensus::Addressed message) { transport_->send(to, std::move(message)); };
  ports.follower = [this](JobId job) { return follower_of(caf::actor_cast<caf::actor_addr>(keeper_), job); };
  if (options_.on_disk) {
    ports.write = [this](JobId job, const consensus::StoredChange& change, std::function<void()> written) {
      if (over()) return;
      if (world_.ledger.planted == PlantedAround::written_early) std::exchange(written, [] {})();
      disk_.write(job, change, std::move(written));
      write_soon();
    };
    ports.forget = [this](JobId job) {
      if (over()) return;
      disk_.forget(job);
      write_soon();
    };
  }
  ports.codes = &wire::CodeMap::of_this_process();
  ports.seat = {self_.process, disk_.id()};
  ports.copies_wanted = options_.copies_wanted;
  return ports;
}

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

KeeperPorts SimNode::keeper_ports() {
  KeeperPorts ports;
  ports.drain = [](bool) {};
  ports.now = [this] { return now(); };
  ports.since_1970 = [this] { return now().since_start; };
  ports.send_client = [this](Life to, ClientMessage message) { transport_->send(to, std::move(message)); };
  ports.send_keeper = [this](Life to, KeeperMessage message) {
    const auto* up = std::get_if<keeper::WorkerUp>(&message);
    const bool of_others = up != nullptr && up->number == keeper::for_your_knowledge;
    if (of_others && world_.ledger.planted == PlantedAround::places_untold) return;
    transport_->send(to, std::move(message));
  };
  ports.life_at = [this](const LifeAt& at) { transport_->member_up(at.life, at.endpoint); };
  ports.forget = [this](Life life) { transport_->forget(life); };
  ports.start_process = [this](const StartProcess& order) {
    if (!over()) ports_.start_process(order);
  };
  ports.stop_process = [this](Life life) {
    if (!over()) ports_.stop_process(life);
  };
  ports.keep_program = [this](ProgramId program, const Blob&) -> Status {
    programs_.insert(program);
    return Done{};
  };
  ports.program = [this](ProgramId program) {
    return programs_.contains(program) ? detail::to_blob(program.hash_low) : Blob();
  };
  ports.drop_program = [this](ProgramId program) { programs_.erase(program); };
  ports.details = [this](JobId job) { return records_.details.details(job); };
  ports.forget_details = [this](JobId job) { records_.details.forget(job); };
  ports.job_begins = [](const JobPlan&) {};
  ports.job_closed = [](JobId) {};
  ports.job_ended = [](JobId, bool) {};
  ports.shut_down = [] {};
  ports.inspect = [this](const std::function<void()>& checks) { inspect(checks); };
  return ports;
}

TransportEvents SimNode::transport_events() {
  TransportEvents events;
  if (world_.ledger.print) events.remark = [this](std::string_view line) { remark(line); };
  events.arrived = [this](Life from, std::vector<JobMessage> messages, std::function<void()> handled) {
    caf::anon_send(node_, mail::Arrived{from, std::move(messages), std::move(handled)});
  };
  events.client = [this](Life from, ClientMessage message) {
    if (is_client(from.process)) caf::anon_send(keeper_, mail::ClientSaid{from, std::move(message)});
  };
  events.keeper = [this](Life from, KeeperMessage message) {
    caf::anon_send(keeper_, mail::KeeperSaid{from, std::move(message)});
  };
  events.copy = [this](Life from, consensus::Addressed said) {
    if (is_node(from.process)) caf::anon_send(node_, mail::CopySaid{from, std::move(said)});
  };
  events.greeted = [this](Life life, const Endpoint& endpoint, const std::string& build) {
    if (!is_client(life.process) && !is_node(life.process))
      caf::anon_send(keeper_, mail::Greeted{life, endpoint, build});
  };
  events.heard = [this, silences = Silences()](Life life, bool heard) mutable {
    if (silences.note(life, heard))
      caf::anon_send(keeper_, mail::KeeperSaid{self_, keeper::Unheard{{}, silences.lives()}});
  };
  events.membership = [this](Life from, MembershipMessage message) {
    if (membership_) caf::anon_send(membership_, mail::Heard{from, std::move(message)});
  };
  events.disconnected = [this](Life life) {
    if (is_node(life.process)) caf::anon_send(membership_, mail::LinkBroken{life});
  };
  events.refused = [this](Life life) {
    if (is_node(life.process)) caf::anon_send(membership_, mail::LinkRefused{life});
    if (is_client(life.process)) caf::anon_send(keeper_, mail::Gone{life});
  };
  return events;
}

void SimNode::start_membership() {
  MembershipPorts ports;
  ports.now = [this] { return now(); };
  ports.send = [this](const SendMembership& message) { transport_->send(message); };
  ports.up = [this](const MemberUp& up) { transport_->member_up(up.life, up.endpoint); };
  ports.down = [this](const MemberDown& down) {
    world_.ledger.saw("node down: " + std::string(name(down.why)));
    transport_->member_down(down.life);
  };
  ports.view = [this](std::vector<Claim> members, Hearings heard) {
    caf::anon_send(keeper_, mail::Nodes{std::move(members), std::move(heard)});
  };
  ports.load = [this] {
    LoadSummary load;
    load.disk = disk_.id();
    load.devices.push_back(
        {"cpu", options_.lanes, options_.lanes, std::uint64_t{1} << 34, std::uint64_t{1} << 34, Duration{0}});
    return load;
  };
  ports.over = [this] { after(Duration{0}, [this] { ports_.over(); }); };
  MembershipSetup setup{self_, transport_->endpoint(), patience_on_one_host(), world_.random.next()};
  setup.options.seeds = options_.addresses;
  setup.tells_loads = false;
  membership_ = host_.system().spawn<MembershipActor>(std::move(setup), std::move(ports), keeper_);
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
