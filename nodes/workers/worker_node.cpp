#include "nodes/workers/worker_node.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "libdag/host/host.hpp"
#include "libdag/outputs/arena.hpp"
#include "libdag/wire/lengths.hpp"
#include "nodes/process/build_id.hpp"
#include "nodes/process/job_notes.hpp"
#include "nodes/process/os_process.hpp"
#include "nodes/process/process_lane_events.hpp"
#include "nodes/workers/counting_records.hpp"
#include "nodes/workers/descendants.hpp"
#include "nodes/workers/seat_door.hpp"

namespace dag {
namespace {

/// The kept length of a kernel's log line.
constexpr std::size_t said_bytes_max = std::size_t{16} << 10;

std::optional<EventRings> rings_of(const WorkerSeat& seat, spdlog::logger& log) {
  if (seat.records < 0) return std::nullopt;
  fcntl(seat.records, F_SETFD, FD_CLOEXEC);  // Not inherited by processes of kernels.
  auto rings = EventRings::open(OwnedFile(seat.records));
  if (rings) return std::move(*rings);
  log.warn("events of this process are not kept: {}", rings.error().what);
  return std::nullopt;
}

std::unique_ptr<EventSink> sink_for(const std::optional<EventRings>& rings, RunningPage& page) {
  std::unique_ptr<EventSink> kept = std::make_unique<NullEventSink>();
  if (rings) kept = std::make_unique<RingEventSink>(rings->ring(rings->count() - 1));
  return std::make_unique<CountingRecords>(page, std::move(kept));
}

std::unique_ptr<EventSink> sink_of_logs(const std::optional<EventRings>& rings) {
  if (!rings) return std::make_unique<NullEventSink>();
  return std::make_unique<RingEventSink>(rings->ring(rings->count() - 2));
}

event::Said said_by(const Speaker& by, std::string_view line) {
  event::Said said{std::string(by.name), std::string(line.substr(0, said_bytes_max)), by.number};
  if (line.size() > said_bytes_max)
    said.line += " ... and " + std::to_string(line.size() - said_bytes_max) + " bytes more";
  return said;
}

std::vector<std::string> addresses_of(const keeper::Begin& begin) {
  std::vector<std::string> addresses;
  for (const Endpoint& other : begin.others) addresses.push_back(other.control);
  return addresses;
}

}  // namespace

class WorkerNode::ForNodeActor final : public OsProcess, public SchedulingMeter {
 public:
  explicit ForNodeActor(WorkerNode& node) : OsProcess(node.logger_), node_(node) {}

  void send(Life to, JobMessage message) override { node_.transport_->send(to, std::move(message)); }
  void troubled(JobId job, Troubled what) override { node_.note(note_of(job, std::move(what))); }
  void escalate(Error why) override { node_.fail(std::move(why)); }
  void end_now(std::string_view why) override { node_.end_now(why, status_of_lease_lost); }

  void placed(Duration took) override { node_.running_->placed(took); }
  void stolen(Life thief, std::size_t tasks) override {
    const std::vector<Life> of_host = node_.lanes_.reach();
    node_.running_->stolen(tasks, std::find(of_host.begin(), of_host.end(), thief) != of_host.end());
  }

 private:
  WorkerNode& node_;
};

WorkerNode::WorkerNode(const NodeOptions& options, WorkerSeat seat, RunningPage& page)
    : seat_(std::move(seat)),
      running_(&page),
      logger_(make_logger(options.log_level)),
      doorbell_(options.rings ? make_doorbell(*logger_) : nullptr),
      rings_(rings_of(seat_, *logger_)),
      records_(sink_for(rings_, *running_)),
      logs_(sink_of_logs(rings_)),
      has_failed_(eventfd(0, EFD_CLOEXEC)),
      for_node_actor_(std::make_unique<ForNodeActor>(*this)),
      system_(config_),
      lanes_(lanes_options(), lane_events()) {
  warn_of_slow_barriers(*logger_);
  NodeSetup setup{seat_.self, {seat_.self}};
  setup.released_bytes_max = room_for_released();
  begin_arena();
  // Nobody sends before a message has come, and none comes before the transport begins.
  node_ = system_.spawn<NodeActor>(std::move(setup), lanes_,
                                   Ports{.process = *for_node_actor_, .scheduling = for_node_actor_.get()},
                                   *records_);
  when_it_fails(node_, [this](Error why) { fail(std::move(why)); });
  open_transport();
  transport_->connect(seat_.node_address);
  transport_->begin();
}

WorkerNode::~WorkerNode() {
  membership_.leave(system_);
  caf::anon_send_exit(node_, caf::exit_reason::user_shutdown);
  system_.await_all_actors_done();
  lanes_.stop();  // Lanes tell others by the transport, and it tells them.
  transport_.reset();
  running_->last_beat();
  arena::end();
}

LanesOptions WorkerNode::lanes_options() const {
  static const Topology topology = topology_of_host();  // Takes milliseconds to ask.
  LanesOptions lanes = lanes_on(topology, seat_.lanes, seat_.share, seat_.self.process);
  lanes.niceness = seat_.niceness;
  lanes.spawn_credit = seat_.spawn_credit;
  lanes.running = running_;
  lanes.records.process = seat_.self.process;
  for (std::size_t i = 0; rings_ && i + EventRings::beside_lanes < rings_->count(); ++i)
    lanes.records.rings.push_back(rings_->ring(i));
  lanes.doorbell = doorbell_;
  return lanes;
}

void WorkerNode::end_now(std::string_view why, int status) const {
  std::cerr << "dag: " << to_string(seat_.self.process) << " ends: " << why << std::endl;
  _exit(status);
}

void WorkerNode::note(wire::JobNote what) {
  if (what.text.size() > wire::text_bytes_max) what.text.resize(wire::text_bytes_max);
  transport_->note(cell(), std::move(what));
}

class WorkerNode::OnLanes final : public ProcessLaneEvents {
 public:
  explicit OnLanes(WorkerNode& node)
      : ProcessLaneEvents(node.seat_.self, node.node_, node.transport_), node_(node) {}

  void log(const Speaker& by, std::string_view line) override {
    const ProcessId self = node_.seat_.self.process;
    if (node_.logs_->enabled())
      node_.logs_->record({steady_now(), {self, by.lane}, by.job, by.task, by.attempt, said_by(by, line)});
    ProcessLaneEvents::log(by, line);
  }
  void progress_over(const Speaker& by) override { note(note_by(by, wire::JobNote::Kind::over, "")); }
  bool left_processes() override { return may_have_left_processes(Lanes::thread_name); }
  void stuck(const OutputName& attempt, bool charged, std::string_view why) override {
    const std::lock_guard once(node_.mutex_);
    if (charged) node_.running_->end_for(attempt.task, attempt.attempt);
    node_.end_now(why, status_of_stuck);
  }

 private:
  void note(wire::JobNote note) override { node_.note(std::move(note)); }

  WorkerNode& node_;
};

std::unique_ptr<LaneEvents> WorkerNode::lane_events() { return std::make_unique<OnLanes>(*this); }

class WorkerNode::OnTransport final : public ProcessEvents {
 public:
  explicit OnTransport(WorkerNode& node)
      : ProcessEvents(node.membership_, node.node_, node.lanes_, node.logger_), node_(node) {}

  void keeper(Life from, KeeperMessage message) override {
    if (const auto* order = std::get_if<keeper::Begin>(&message)) node_.on_begin(from, *order);
    if (auto* question = std::get_if<keeper::Explain>(&message)) node_.explain(from, std::move(*question));
  }
  void refused(Life life) override {
    if (life.process == node_of(node_.seat_.self.process))
      node_.fail({ErrorCode::cluster_lost, "its node is gone", {}});
    ProcessEvents::refused(life);
  }
  void heard(Life life, bool heard) override { node_.on_heard(life, heard); }
  /// A node that cannot read our messages, or not write its own to us, wants to end the connection.
  void unwelcome(const std::string& address, const Error& why) override {
    if (address == node_.seat_.node_address || why.code == ErrorCode::frame_invalid) node_.fail(why);
  }
  /// Its work is made again by others, and supervision counts how often that is tried.
  void broken(Life /*life*/, const Error& why) override { node_.fail(why); }
  void turned_away(const Caller& caller, const Error& why) override {
    node_.logger_->warn("{} was turned away: {}", to_string(caller.life), why.what);
  }

 private:
  WorkerNode& node_;
};

class WorkerNode::ForMembership final : public MembershipPorts {
 public:
  explicit ForMembership(WorkerNode& node) : node_(node) {}

  Instant now() override { return steady_now(); }
  void send(SendMembership message) override { node_.transport_->send(std::move(message)); }
  void up(const MemberUp& up) override { node_.transport_->member_up(up.life, up.endpoint); }
  void down(const MemberDown& down) override { node_.transport_->member_down(down.life); }
  LoadSummary load() override {
    node_.lanes_.note_queue();
    return load_of(node_.lanes_, node_.seat_.share);
  }
  void over() override {
    node_.fail({ErrorCode::cluster_lost, "the other processes of its job took this one for dead", {}});
  }

 private:
  WorkerNode& node_;
};

void WorkerNode::open_transport() {
  TransportSetup setup;
  setup.self = seat_.self;
  setup.cluster = seat_.cluster;
  setup.build = build_of_this_process();
  // On the interface on which its node listens.
  const net::Address node = net::parse_address(seat_.node_address).value_or_throw();
  setup.sockets.listen = {node.host, 0};
  setup.sockets.beyond_loopback = may_leave_loopback();
  setup.doorbell = doorbell_;
  setup.beat = [this] { running_->beat(static_cast<std::uint32_t>(gettid())); };
  setup.beat_every = RunningPage::beat_every;
  transport_ = open_or_end({node_}, std::move(setup), std::make_unique<OnTransport>(*this));
}

/// Comes from the node that leads the record of the job, now or later.
void WorkerNode::on_begin(Life from, const keeper::Begin& order) {
  if (!is_node(from.process) || from != order.cell || order.job != seat_.job) return;
  bool begun = false;
  {
    const std::lock_guard lock(mutex_);
    if (order.term < term_ || (order.term == 0 && from != seat_.cell)) return;
    term_ = order.term;
    cell_ = from;
    begun = std::exchange(begun_, true);
  }
  if (!begun) return begin(order);
  say_unheard();
  // Members named by an earlier leader may be gone, and newer ones may not know this process.
  membership_.send(mail::Others{addresses_of(order)});
}

void WorkerNode::explain(Life from, keeper::Explain question) {
  if (!is_node(from.process) || question.job != seat_.job) return;
  const auto answer = [this, from, number = question.question](ProcessExplained&& process) {
    transport_->send(from, KeeperMessage(keeper::Explained{seat_.job, number, std::move(process)}));
  };
  caf::anon_send(node_, mail::Explain{seat_.job, std::move(question.what), answer});
}

void WorkerNode::on_heard(Life life, bool heard) {
  {
    const std::lock_guard lock(mutex_);
    if (!silences_.note(life, heard)) return;
  }
  say_unheard();
}

void WorkerNode::say_unheard() {
  keeper::Unheard news{seat_.job, {}};
  {
    const std::lock_guard lock(mutex_);
    news.lives = silences_.lives();
  }
  transport_->send(cell(), KeeperMessage(std::move(news)));
}

Life WorkerNode::cell() {
  const std::lock_guard lock(mutex_);
  return cell_;
}

void WorkerNode::begin(const keeper::Begin& begin) {
  MembershipSetup setup{seat_.self, transport_->endpoint(), patience_on_one_host(), draw_number()};
  setup.options.seeds = addresses_of(begin);
  membership_.open([&] {
    return system_.spawn<MembershipActor>(std::move(setup), std::make_unique<ForMembership>(*this), node_);
  });
}

void WorkerNode::fail(Error why) {
  const std::lock_guard lock(mutex_);
  if (!failed_) failed_ = std::move(why);
  eventfd_write(has_failed_.number(), 1);
}

std::optional<int> WorkerNode::serve() {
  pollfd polled[] = {{has_failed_.number(), POLLIN, 0}, {seat_.door, POLLIN, 0}};
  while (poll(polled, 2, -1) < 0 && errno == EINTR) {
  }
  const bool leaves = polled[0].revents == 0 && hear_leave(seat_.door);
  const std::lock_guard lock(mutex_);
  if (!failed_ && leaves) return std::nullopt;
  if (!failed_) failed_ = {ErrorCode::cluster_lost, "its node is gone", {}};
  std::cerr << "dag: " << to_string(seat_.self.process) << " ends: " << failed_->message() << std::endl;
  return failed_->code == ErrorCode::cluster_lost ? status_of_cut_off : exit_status_of(failed_->code);
}

}  // namespace dag
