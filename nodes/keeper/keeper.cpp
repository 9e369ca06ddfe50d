// Builds a node of a shared cluster: reads like a parts list.

#include "nodes/keeper/keeper.hpp"

#include <unistd.h>

#include "libdag/client/state_dir.hpp"
#include "libdag/warden/limits.hpp"
#include "libdag/wire/lengths.hpp"
#include "nodes/disk/durable_file.hpp"
#include "nodes/disk/incarnation.hpp"
#include "nodes/disk/unsynced_files.hpp"

namespace dag {
namespace {

/// Code of a job's program, by module and offset, as a number that is never called: each module gets its own
/// range.
wire::CodeMap codes_of_others() {
  constexpr std::size_t range = std::size_t{1} << 44;
  return wire::CodeMap({{range, range}, {2 * range, range}});
}

Duration election_timeout(const KeeperOptions& options) {
  return net::is_loopback(options.listen) ? election_timeout_on_one_host() : RecordOptions{}.election_timeout;
}

/// How far the numbers of each node's jobs had come.
std::map<ProcessId, std::uint32_t> handles_in(const NodeSetup& node) {
  std::map<ProcessId, std::uint32_t> seen;
  const auto see = [&](JobId job) {
    std::uint32_t& highest = seen[node_of(job)];
    highest = std::max(highest, static_cast<std::uint32_t>(job.value));
  };
  for (const auto& [job, log] : node.logs) see(job);
  for (const auto& [first, last] : node.forgotten.ranges()) see(JobId{last});
  return seen;
}

}  // namespace

Keeper::Keeper(const KeeperOptions& options)
    : options_(options),
      files_(files_for(options.data_directory)),
      data_(options.data_directory.empty()
                ? std::nullopt
                : std::optional(DataDirectory::open(options.data_directory, options.id, *files_,
                                                    options.incarnation_at_least)
                                    .value_or_throw())),
      self_(first_life()),
      logger_(make_logger(options.log_level)),
      store_(open_store()),
      disk_(store_                 ? store_->disk()
            : options.replicas > 1 ? draw_number() | 1
                                   : 0),
      codes_(codes_of_others()),
      progress_(election_timeout(options) / 2, progress_ports()),
      process_(process_port()),
      replicas_(replica_transport()),
      system_(config_),
      lanes_({}, {}),
      memory_([this](JobId job, Error why) {
        caf::anon_send(node_, mail::StopJob{job, std::move(why)});
      }) {
  if (!options_.state_directory.empty()) {
    make_state_directory();
    if (!data_ && !keep_incarnation(*files_, options_.state_directory, self_.incarnation))
      logger_->warn("{} cannot be written", options_.state_directory);
  }
  if (data_ && data_->was_full()) {
    logger_->error(
        "the disk of {} is full: this node serves existing data, and settles nothing until there is room",
        options_.data_directory);
  }
  if (data_) data_->load(programs_, [this](std::string_view line) { logger_->warn("{}", line); });
  cluster_ = options_.cluster;
  if (cluster_ == ClusterId{} && options_.peers.empty()) cluster_ = {draw_number()};

  NodeSetup node{self_, {self_}};
  KeeperSetup keeper{self_, static_cast<std::uint32_t>(getpid()), disk_ != 0, options.replicas,
                     !options.peers.empty()};
  keeper.limits = limits_now();
  keeper.results = options_.results;
  keeper.results.spills = data_.has_value();
  keeper.programs = programs_.ids();
  keeper.programs_bytes_max = ProgramStore::programs_bytes_max;
  node.records = record_options();
  if (store_) {
    node.logs = store_->take_logs();
    node.forgotten = store_->forgotten();
    keeper.handles_seen = handles_in(node);
    for (const auto& [job, log] : node.logs) keeper.unread.insert(job);
    if (!node.logs.empty()) logger_->info("{} jobs are in the log", node.logs.size());
  }
  if (data_) open_checkpoints(node.logs);
  // Nobody sends before a message has come, and none comes before the transport begins.
  node_ = system_.spawn<NodeActor>(std::move(node), lanes_, ports(), open_records());
  keeper_ = system_.spawn<KeeperActor>(std::move(keeper), keeper_ports(), node_);
  for (const caf::actor& actor : {node_, keeper_})
    when_it_fails(actor, [this](Error why) { end(std::move(why)); });
  open_spill();
  open_transport();
  processes_ = std::make_unique<WorkerProcesses>(
      WorkerDefaults{transport_->endpoint().control, options_.share, options_.lanes, options_.state_directory,
                     options_.journal_runs ? journal_.get() : nullptr, lanes_of_workers(), options_.niceness,
                     options_.spawn_credit, options_.keep_warm},
      programs_, worker_events());
  open_web();
  caf::anon_send(node_, mail::Recover{});
  start_membership();
  transport_->begin();
}

Keeper::~Keeper() {
  membership_.leave(system_);
  if (web_) web_->close();
  processes_->end_all();  // The actors still ask for this and that until they have ended.
  end_actors({keeper_, node_});
  spill_.reset();
  web_.reset();
  journal_reader_.reset();  // The reader answers by the transport.
  transport_.reset();
  store_.reset();
}

Life Keeper::first_life() const {
  if (data_) return data_->life();
  const auto kept = kept_incarnation(options_.state_directory);
  return {options_.id, next_incarnation(kept, options_.incarnation_at_least).value_or_throw()};
}

/// Where records go.
EventSink& Keeper::open_records() {
  if (!options_.journal) return details_;
  JournalLimits limits;
  std::string directory;
  if (data_) {
    directory = data_->journal();
  } else if (!options_.state_directory.empty()) {
    auto home = JournalHome::open(options_.state_directory, *files_);
    if (!home) logger_->warn("{}", home.error().what);
    if (!home) return details_;
    directory = journal_home_.emplace(std::move(*home)).directory();
    limits.all_bytes = JournalHome::all_bytes;
  } else {
    return details_;
  }
  const auto log = [log = logger_](const std::string& line) { log->warn("{}", line); };
  journal_ = std::make_unique<Journal>(directory, self_, log, *files_, limits);
  journal_reader_ = std::make_unique<JournalReader>(*journal_, directory);
  return records_.emplace(details_, *journal_);
}

void Keeper::open_checkpoints(const std::map<JobId, consensus::Stored>& jobs) {
  std::set<JobId> open;
  for (const auto& [job, log] : jobs) open.insert(job);
  checkpoints_ = std::make_unique<CheckpointStore>(
      data_->checkpoints(), self_, std::move(open),
      [this](LogLevel level, const std::string& line) {
        logger_->log(level == LogLevel::info ? spdlog::level::info : spdlog::level::warn, "{}", line);
      },
      *files_);
}

/// A damaged log is put aside when other nodes have copies of what was in it: this one begins with an empty
/// disk then, which is another seat.
std::unique_ptr<Store> Keeper::open_store() {
  if (!data_) return nullptr;
  const auto say_full = [log = logger_](bool full) {
    if (full) {
      log->error(
          "the disk is full: until there is room, this node settles nothing, and leads no job that another "
          "node can lead");
    } else {
      log->warn("the disk has room again");
    }
  };
  auto store = Store::open(data_->log(), {}, say_full, *files_);
  if (!store && store.error().code == ErrorCode::log_damaged && options_.replicas > 1) {
    const std::string aside = data_->log() + "-damaged-" + std::to_string(self_.incarnation.value);
    logger_->error("{}; it is kept as {}, and this node gets its copies from others", store.error().what,
                   aside);
    if (!files_->rename(data_->log(), aside)) throw Failure(cannot("rename", data_->log()));
    store = Store::open(data_->log(), {}, say_full, *files_);
  }
  return std::move(store).value_or_throw();
}

void Keeper::make_state_directory() const {
  detail::make_state_dir(options_.state_directory).value_or_throw();
}

// ---- The parts

/// Without a client to ask for them no results come, so it is opened before the transport.
void Keeper::open_spill() {
  if (!data_) return;
  spill_ = std::make_unique<ResultSpill>(
      options_.data_directory, [this](client::TaskSettled settled, const Status& written) {
        if (!written) logger_->warn("{}", written.error().what);
        caf::anon_send(keeper_, mail::Spilled{std::move(settled), static_cast<bool>(written)});
      });
}

void Keeper::open_transport() {
  TransportSetup setup;
  setup.self = self_;
  setup.cluster = cluster_;
  setup.sockets.listen = options_.listen;
  setup.sockets.beyond_loopback = may_leave_loopback();
  setup.codes = &codes_;
  setup.room = room_of(limits_now(), options_.peers.size() + 1);
  transport_ = open_or_end({keeper_, node_}, std::move(setup), transport_events());
  endpoint_ = transport_->endpoint();
}

void Keeper::open_web() {
  if (!options_.http) return;
  WebPorts ports;
  ports.ask = [this](ClientMessage question) {
    caf::anon_send(keeper_, mail::ClientSaid{web_client(), std::move(question)});
  };
  ports.measures = [this] { return measures(); };
  web_ = std::make_unique<NodeWeb>(std::move(ports));
  web::HttpOptions http;
  http.listen = *options_.http;
  http.token = options_.http_token;
  if (const std::uint64_t files = files_limit(); files > 0)  // Jobs and clients need them more.
    http.connections_max =
        std::min<std::size_t>(http.connections_max, std::max<std::uint64_t>(files / 32, 4));
  http.on_thread = give_way;
  const inspector::InspectorOptions inspected{endpoint_.control, to_string(self_.process), give_way};
  if (const Status opened = web_->open(std::move(http), inspected); !opened) {
    processes_->end_all();
    end_actors({keeper_, node_});
    throw Failure(opened.error());
  }
  endpoint_.web = net::to_string(web_->address());
}

Ports Keeper::ports() {
  Ports ports{.process = *process_, .listener = &listener_, .saves = checkpoints_.get(), .log = store_.get()};
  if (disk_ != 0) ports.replicas = replicas_.get();
  return ports;
}

RecordOptions Keeper::record_options() const {
  RecordOptions options;
  options.codes = &codes_;
  options.seat = {self_.process, disk_};
  options.copies_wanted = options_.replicas;
  options.witness = options_.witness;
  options.election_timeout = election_timeout(options_);
  options.save_bytes_max = wire::save_bytes_max;
  return options;
}

WorkerEvents Keeper::worker_events() {
  WorkerEvents events;
  events.started = [this](Life life, std::uint32_t pid) {
    logger_->info("{} is process {}", to_string(life.process), pid);
    caf::anon_send(keeper_, mail::ProcessStarted{life, pid});
  };
  events.not_started = [this](Life life, Error why) {
    logger_->warn("{} was not started: {}", to_string(life.process), why.what);
    caf::anon_send(keeper_, mail::ProcessNotStarted{life, std::move(why)});
  };
  events.ended = [this](Life life, ProcessEnd how, std::string text, std::vector<RunningAttempt> running,
                        std::optional<std::uint32_t> guilty_lane) {
    if (how != ProcessEnd::stopped_by_us) logger_->warn("{}: {}", to_string(life.process), text);
    caf::anon_send(keeper_, mail::ProcessEnded{life, how, std::move(text), std::move(running), guilty_lane});
  };
  return events;
}

void Keeper::start_membership() {
  members_.emplace(self_.process, journal_.get(), *logger_);
  load_ = load();
  MembershipSetup setup{self_, endpoint_, {}, draw_number()};
  if (net::is_loopback(options_.listen)) setup.options = patience_on_one_host();
  setup.options.seeds = options_.peers;
  setup.tells_loads = false;  // Nobody steals from nodes.
  heartbeat_ = setup.options.heartbeat;
  members_->started(self_, endpoint_);
  membership_.open(
      [&] { return system_.spawn<MembershipActor>(std::move(setup), membership_ports(), keeper_); });
}

// ---- Its end

void Keeper::end(std::optional<Error> why) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  over_ = true;
  failed_ = std::move(why);
  changed_.notify_all();
}

bool Keeper::wait_for_nodes(std::size_t count, Duration limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return nodes_up_ >= count || over_; }) && !over_;
}

void Keeper::stop() { end(std::nullopt); }

std::optional<Incarnation> Keeper::come_back_as() {
  const std::lock_guard lock(mutex_);
  return failed_ ? come_back_as_ : std::nullopt;
}

std::optional<Error> Keeper::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return over_; });
  return failed_;
}

}  // namespace dag
