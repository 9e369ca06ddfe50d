// Builds a node: reads like a parts list. Everything a process of libdag has is made here, and nowhere else.

#include "nodes/node.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/printed_log.hpp"
#include "libdag/client/user_cluster.hpp"
#include "libdag/graph/partition.hpp"
#include "libdag/graph/program.hpp"
#include "libdag/keeper/admission.hpp"
#include "libdag/outputs/arena.hpp"
#include "libdag/warden/started_with.hpp"
#include "libdag/wire/lengths.hpp"
#include "nodes/checking_client.hpp"
#include "nodes/client/remote_client.hpp"
#include "nodes/isolated_client.hpp"
#include "nodes/machine/cores.hpp"
#include "nodes/process/job_notes.hpp"
#include "nodes/workers/client_world.hpp"
#include "nodes/workers/worker_process.hpp"

namespace dag {
namespace {

/// How long submit() waits for the processes of the run to find each other, and a process for process 0.
constexpr auto gather_within = std::chrono::seconds(30);
constexpr Life first_life{{0}, {1}};

/// Ends the process without destructors: nothing here is of use any more, and kernels may still run.
[[noreturn]] void end_now(int status) {
  std::cout.flush();
  std::fflush(nullptr);
  _exit(status);
}

std::optional<RunPages> make_run_pages(const std::optional<Place>& place) {
  if (!place) return std::nullopt;
  return std::optional<RunPages>(std::in_place, place->running, place->rank, place->size);
}

/// Runs every process but process 0 of an isolated run: a node until process 0 has ended, or is lost.
[[noreturn]] void serve_isolated(const NodeOptions& options, const Place& place) {
  std::optional<Error> failed;
  {
    Keeper keeper(isolated_node(options, place));
    keeper.end_with({0});
    failed = keeper.wait();
  }
  if (!failed) end_now(EXIT_SUCCESS);
  std::cerr << "dag: process " << place.rank << " ends: " << failed->message() << std::endl;
  end_now(exit_status_of(failed->code));
}

}  // namespace

// ---- The parts

Node::Node(const NodeOptions& options, std::optional<Place> place)
    : place_(std::move(place)),
      self_{{place_ ? place_->rank : 0}, {1}},
      supervise_all_(options.supervise_all),
      logger_(make_logger(options.log_level)),
      doorbell_(place_ && options.rings ? make_doorbell(*logger_) : nullptr),
      process_(process_port()),
      listener_(job_listener()),
      system_(config_),
      running_(make_run_pages(place_)),
      lanes_(lanes_options(options), lane_events()),
      memory_([this](JobId job, Error why) {
        caf::anon_send(node_, mail::StopJob{job, std::move(why)});
      }) {
  warn_of_slow_barriers(*logger_);
  NodeSetup setup{self_, {self_}};
  setup.released_bytes_max = room_for_released();
  if (place_) begin_arena();
  node_ = system_.spawn<NodeActor>(std::move(setup), lanes_,
                                   Ports{.process = *process_, .listener = listener_.get()}, records_);
  if (place_) {
    // No message is sent before a member is up, and membership, which says so, starts last.
    open_transport();
    start_membership();
    transport_->begin();
  }
  when_it_fails(node_, [this](Error why) { fail(std::move(why)); });
}

Node::~Node() {
  membership_.leave(system_);
  caf::anon_send_exit(node_, caf::exit_reason::user_shutdown);
  system_.await_all_actors_done();
  lanes_.stop();  // Lanes tell others by the transport, and it tells them.
  transport_.reset();
  if (place_) arena::end();
}

CoreShare Node::share() const { return place_ ? CoreShare{place_->rank, place_->size} : CoreShare{}; }

LanesOptions Node::lanes_options(const NodeOptions& options) const {
  LanesOptions lanes = lanes_on(topology_of_host(), options.lanes, share(), self_.process);
  if (running_) lanes.running = &running_->own();
  lanes.spawn_credit = spawn_credit_of(options);
  lanes.doorbell = doorbell_;
  return lanes;
}

// ---- The client

Status Node::submit(std::shared_ptr<const detail::Fragment> graph, std::shared_ptr<detail::JobState> state) {
  if (Status gathered = wait_for_all(); !gathered) return gathered;
  // The processes of a run are alike: they divide one host's cores.
  const LoadSummary load = load_of(lanes_, share());
  std::vector<NodeDevices> nodes;
  for (std::uint32_t rank = 0; rank < (place_ ? place_->size : 1); ++rank) {
    nodes.push_back(devices_of({rank}, load));
  }
  if (Status possible = admit(*graph, nodes); !possible) return possible;
  auto plan = std::make_shared<JobPlan>();
  plan->job = {next_job_.fetch_add(1)};
  plan->name = state->name;
  plan->shards = place_ ? place_->size : 1;
  if (Status room = memory_.enter(plan->job, *graph); !room) return room;
  try {
    plan->shard_of = partition(*graph, plan->shards);
    if (plan->shards == 1 && !graph->program.kept()) graph->program.keep(make_program(*graph));
  } catch (const std::bad_alloc&) {
    memory_.leave(plan->job);
    throw;
  }
  plan->graph = std::move(graph);
  plan->representation = supervise_all_ ? Representation::supervised : Representation::as_needed;
  plan->seed = plan->job.value;
  plan->quarantine = place_.has_value();
  state->id = plan->job;
  {
    const std::lock_guard lock(state_mutex_);
    if (failed_) return *failed_;
    std::erase_if(submitted_, [](const auto& one) { return one.second.expired(); });
    submitted_.emplace(plan->job, state);
  }
  if (!place_) {
    ended_.begin(plan->job, plan->graph);
    // Alone there is no gossip. The home checks by this load what tasks need that are spawned.
    using Loads = std::vector<std::pair<Life, LoadSummary>>;
    caf::anon_send(node_, mail::Loads{std::make_shared<const Loads>(Loads{{self_, load}})});
  }
  caf::anon_send(node_, mail::Submit{std::move(plan)});
  return Done{};
}

void Node::want(JobId job, std::uint32_t task) {
  if (place_) {
    caf::anon_send(node_, mail::Want{job, task});
  } else if (!ended_.want(job, task)) {
    refuse(job, task);
  }
}

EndedJobs::Ports Node::ports_of_ended() {
  EndedJobs::Ports ports;
  ports.want = [this](JobId job, std::uint32_t task) { caf::anon_send(node_, mail::Want{job, task}); };
  ports.let_go = [this](JobId job) {
    caf::anon_send(node_, mail::ForgetJob{job});
    memory_.leave(job);
  };
  ports.later = [this](Duration after, std::function<void()> call) {
    caf::delayed_anon_send(node_, after, mail::Probe{std::move(call)});
  };
  return ports;
}

void Node::refuse(JobId id, std::uint32_t task) {
  const std::shared_ptr<detail::JobState> job = state_of(id);
  if (!job) return;
  job->settle(
      task,
      {Outcome::finished,
       {},
       Error{ErrorCode::output_released,
             "the output of " + job->label_of(task) + " was released: all tasks that read it have ended",
             "say .keep() where the task is added to the graph, or ask for its output before they end"}});
}

void Node::forget(JobId job) {
  ended_.forget(job);
  caf::anon_send(node_, mail::ForgetJob{job});
  memory_.leave(job);
}

Status Node::wait_for_all() {
  if (!place_) return Done{};
  std::unique_lock lock(state_mutex_);
  const bool gathered = state_changed_.wait_for(
      lock, gather_within, [this] { return failed_.has_value() || seen_.size() + 1 >= place_->size; });
  if (failed_) return *failed_;
  if (gathered) return Done{};
  std::string missing;
  for (std::uint32_t rank = 1; rank < place_->size; ++rank) {
    if (!seen_.contains({rank})) missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  }
  return Error{ErrorCode::peer_unreachable,
               std::to_string(seen_.size() + 1) + " of " + std::to_string(place_->size) +
                   " processes are here after 30 s; missing: process " + missing,
               "look at what the missing ones said on stderr; does each make a dag::Session?"};
}

std::shared_ptr<detail::JobState> Node::state_of(JobId job) {
  const std::lock_guard lock(state_mutex_);
  const auto found = submitted_.find(job);
  return found == submitted_.end() ? nullptr : found->second.lock();
}

void Node::on_event(std::function<void(const JobEvent&)> handler) {
  const std::lock_guard lock(events_mutex_);
  handler_ = std::move(handler);
}

void Node::tell(const JobEvent& event) {
  const std::lock_guard lock(events_mutex_);
  handler_ ? handler_(event) : detail::print_log(event);
}

void Node::note(wire::JobNote note) {
  if (self_ == first_life) return tell(event_of(std::move(note)));
  if (note.text.size() > wire::text_bytes_max) note.text.resize(wire::text_bytes_max);
  transport_->note(first_life, std::move(note));
}

// ---- Members

/// The actors have heard of these before: a job that is submitted now runs at all of them.
void Node::on_view(const std::vector<Claim>& members) {
  const std::lock_guard lock(state_mutex_);
  bool another = false;
  for (const Claim& member : members) {
    if (member.life != self_) another = seen_.insert(member.life.process).second || another;
  }
  if (another && seen_.size() + 1 == place_->size) say_gathered(*place_);
  state_changed_.notify_all();
}

void Node::on_member_down(const MemberDown& down) {
  transport_->member_down(down.life);
  logger_->info("{} is gone: {}", to_string(down.life), name(down.why));
  if (down.life.process != first_life.process) return;
  if (down.why == DownWhy::left) {
    const std::lock_guard lock(state_mutex_);
    first_left_ = true;
    state_changed_.notify_all();
  } else {
    fail({ErrorCode::cluster_lost,
          "process 0 of the run, which held its jobs, is gone (" + std::string(name(down.why)) + ")",
          "start the run again; what was saved in checkpoints is not lost"});
  }
}

void Node::on_turned_away(const Caller& caller, const Error& why) {
  if (place_->rank != 0 || !caller.same_cluster || caller.life.process.value >= place_->size) return;
  if (why.code != ErrorCode::binary_mismatch && why.code != ErrorCode::peer_version) return;
  {
    // A stranger is no reason to stop, nor is one that takes itself for a process that is here.
    const std::lock_guard lock(state_mutex_);
    if (seen_.contains(caller.life.process)) return;
  }
  fail(why);  // The caller's process will never take part.
}

void Node::fail(Error why) {
  std::vector<std::shared_ptr<detail::JobState>> waiting;
  {
    const std::lock_guard lock(state_mutex_);
    if (failed_ || first_left_) return;
    failed_ = why;
    for (const auto& [job, handle] : submitted_) {
      if (auto state = handle.lock()) waiting.push_back(std::move(state));
    }
    state_changed_.notify_all();
  }
  for (const auto& state : waiting) state->lose(why);
}

void Node::lose_lease(std::string_view why) {
  std::cerr << "dag: " << why << std::endl;
  end_now(exit_cluster_lost);
}

int Node::serve() {
  std::unique_lock lock(state_mutex_);
  const auto over = [this] { return first_left_ || failed_.has_value(); };
  const bool joined =
      state_changed_.wait_for(lock, gather_within, [&] { return over() || seen_.contains({0}); });
  if (!joined) {
    failed_ = Error{ErrorCode::peer_unreachable,
                    "process 0 did not answer at " + net::to_string(place_->first) + " within 30 s",
                    "is it still alive, and does it make a dag::Session?"};
  }
  state_changed_.wait(lock, over);
  if (first_left_) return EXIT_SUCCESS;
  std::cerr << "dag: process " << place_->rank << " ends: " << failed_->message() << std::endl;
  return exit_status_of(failed_->code);
}

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// The address of the cluster that runs the jobs of this process. Empty: this process does. Prints once which
/// it found, unless the user, or a command of `dag`, has named it.
std::string cluster_address(const NodeOptions& options) {
  static bool said = false;
  if (!options.address.empty()) return options.address;
  const bool launched = is_set("DAG_SUBMITTED") || is_set("DAG_SIZE");  // `dag submit` and others; `dag run`.
  if (launched) return is_set("DAG_ADDRESS") ? std::getenv("DAG_ADDRESS") : "";
  const auto found = options.here ? std::nullopt : detail::find_cluster({}, detail::state_dir_of_user());
  if (!found) return "";
  if (!std::exchange(said, true)) {
    std::cerr << program_invocation_short_name << ": " << detail::found_text(*found)
              << "; --dag-local runs jobs here" << std::endl;
  }
  return found->address;
}

}  // namespace

std::unique_ptr<detail::Client> start_node(const NodeOptions& asked) {
  put_right_for_kernels();
  NodeOptions options = asked;
  if (auto seat = seat_from_environment().value_or_throw()) {
    forget_how_it_was_started();
    end_now(be_worker_process(options, *std::move(seat)));
  }
  auto place = place_from_environment().value_or_throw();
  if (options.check) {
    if (place)
      throw Failure({ErrorCode::usage, "--dag-check is for a job alone", "start it without `dag run`"});
    return std::make_unique<CheckingClient>(options);
  }
  if (!place) options.address = cluster_address(options);
  if (!place && !options.address.empty()) return std::make_unique<RemoteClient>(options);
  if (options.isolate) {
    if (!place || place->rank == 0) return std::make_unique<IsolatedClient>(options, place);
    serve_isolated(options, *place);
  }
  const bool serves = place && place->rank != 0;
  auto node = std::make_unique<Node>(options, std::move(place));
  if (!serves) return node;
  end_now(node->serve());
}

}  // namespace dag
