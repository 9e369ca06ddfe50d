#include "dag/session.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <string_view>

#include "libdag/base/in_kernel.hpp"
#include "libdag/base/limits.hpp"
#include "libdag/client/draw_request.hpp"
#include "libdag/client/exit_status.hpp"
#include "libdag/client/node.hpp"
#include "libdag/client/submit_request.hpp"
#include "libdag/graph/check.hpp"

namespace dag {
namespace {

/// A job whose main does not catch it ends with the error's text and the exit status for its kind, instead of
/// a core dump. Other exceptions take their usual course.
void end_well_on_failure() {
  static std::terminate_handler previous = nullptr;
  if (previous != nullptr) return;
  previous = std::set_terminate([] {
    try {
      if (const auto exception = std::current_exception()) std::rethrow_exception(exception);
    } catch (const Failure& failure) {
      std::cerr << program_invocation_short_name << ": " << failure.what() << std::endl;
      std::cout.flush();
      std::_Exit(exit_status_of(failure.error().code));
    } catch (const std::bad_alloc&) {
      std::cerr << program_invocation_short_name << ": " << name(ErrorCode::memory_exhausted)
                << ": no memory left" << std::endl;
      std::_Exit(exit_status_of(ErrorCode::memory_exhausted));
    } catch (...) {
    }
    previous();
  });
}

void refuse_in_kernel() {
  if (!runs_kernel) return;
  throw Failure({ErrorCode::usage, "a kernel makes a dag::Session",
                 "a kernel adds tasks by its dag::Context; make the Session in main and pass values on"});
}

/// The value of libdag's flag `flag`, as a number.
std::uint32_t number_of(std::string_view flag, std::string_view value, std::uint32_t max) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc{} && end == value.data() + value.size() && number > 0 && number <= max)
    return number;
  throw Failure({ErrorCode::usage, std::string(flag) + " needs a number from 1 to " + std::to_string(max) +
                                       ", not '" + std::string(value) + "'"});
}

/// Takes `--dag-NAME VALUE` and `--dag-NAME=VALUE` out of argv.
NodeOptions take_options(int& argc, char** argv) {
  refuse_in_kernel();
  end_well_on_failure();
  NodeOptions options;
  int kept = argc > 0 ? 1 : 0;
  for (int i = kept; i < argc; ++i) {
    std::string_view flag = argv[i];
    if (!flag.starts_with("--dag-") && flag != "--address" && !flag.starts_with("--address=")) {
      argv[kept++] = argv[i];
      continue;
    }
    if (flag == "--dag-check") {
      options.check = options.here = true;
      continue;
    }
    if (flag == "--dag-isolate") {
      options.isolate = options.here = true;
      continue;
    }
    if (flag == "--dag-local") {
      options.here = true;
      continue;
    }
    if (flag == "--dag-no-rings") {
      options.rings = false;
      continue;
    }
    std::string_view value;
    if (const auto equals = flag.find('='); equals != std::string_view::npos) {
      value = flag.substr(equals + 1);
      flag = flag.substr(0, equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    }
    if (flag == "--address") {
      if (value.empty()) {
        throw Failure({ErrorCode::usage, "--address needs HOST:PORT of a node", "`dag up` prints it"});
      }
      options.address = value;
    } else if (flag == "--dag-lanes") {
      options.lanes = number_of(flag, value, 1024);
      options.here = true;
    } else if (flag == "--dag-spawn-tasks") {
      options.spawn_tasks = number_of(flag, value, limits::tasks_max);
      options.here = true;
    } else if (flag == "--dag-spawn-bytes") {
      options.spawn_bytes = number_of(flag, value, std::numeric_limits<std::uint32_t>::max());
      options.here = true;
    } else if (flag == "--dag-log") {
      if (value != "off" && value != "error" && value != "warn" && value != "info" && value != "debug") {
        throw Failure({ErrorCode::usage, "--dag-log does not know the level '" + std::string(value) + "'",
                       "use off, error, warn, info or debug"});
      }
      options.log_level = value;
    } else if (flag == "--dag-supervise-all") {
      options.supervise_all = value == "1";
    } else {
      throw Failure({ErrorCode::usage, "unknown flag " + std::string(flag),
                     "libdag's own flags are --address HOST:PORT, --dag-check, --dag-isolate, --dag-lanes N, "
                     "--dag-local, --dag-log LEVEL, --dag-no-rings, --dag-spawn-bytes N and "
                     "--dag-spawn-tasks N"});
    }
  }
  argc = kept;
  argv[argc] = nullptr;
  return options;
}

}  // namespace

static NodeOptions with(NodeOptions options, const SessionOptions& chosen) {
  options.isolate = options.isolate || chosen.isolate;
  return options;
}

Session::Session(int& argc, char** argv, SessionOptions options)
    : client_(start_node(with(take_options(argc, argv), options))) {}

Session::~Session() {
  for (const auto& job : jobs_) {
    if (const auto state = job.lock()) state->client = nullptr;
  }
}

Job Session::submit(const Graph& graph) try {
  detail::say_submitted();
  const std::shared_ptr<const detail::Fragment> fragment = graph.builder().seal();
  detail::end_if_dry_run(*fragment, graph.name(), [&] { return client_->possible(fragment); });
  if (sound_.lock() != fragment) {
    if (Status checked = check(graph.builder()); !checked) throw Failure(checked.error());
    sound_ = fragment;
  }
  detail::draw_if_asked(*fragment, graph.name());
  auto state = std::make_shared<detail::JobState>();
  state->client = client_.get();
  state->name = graph.name();
  state->graph_serial = graph.builder().serial();
  state->graph = fragment;
  if (Status started = client_->submit(fragment, state); !started) throw Failure(started.error());
  detail::end_if_detached(state->id);
  std::erase_if(jobs_, [](const auto& job) { return job.expired(); });
  jobs_.push_back(state);
  return Job(std::move(state));
} catch (const std::bad_alloc&) {
  throw Failure({ErrorCode::memory_exhausted, "there is no memory left for the graph '" + graph.name() + "'",
                 "release jobs that are over, or raise the limit, and submit it again"});
}

Job Session::attach(std::string_view job) {
  const std::optional<JobId> id = parse_job_id(job);
  if (!id) throw Failure({ErrorCode::usage, "'" + std::string(job) + "' is not a job", "write job7, or 7"});
  for (const auto& one : jobs_) {
    if (auto state = one.lock(); state && state->id == *id) return Job(std::move(state));
  }
  auto state = std::make_shared<detail::JobState>();
  state->id = *id;
  state->client = client_.get();
  client_->attach(*id, state);
  std::erase_if(jobs_, [](const auto& one) { return one.expired(); });
  jobs_.push_back(state);
  return Job(std::move(state));
}

void Session::on_event(std::function<void(const JobEvent&)> handler) {
  client_->on_event(std::move(handler));
}

detail::InOrderOfEnds Session::in_order_of_ends(const detail::Builder& builder,
                                                const std::vector<std::uint32_t>& tasks) {
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {
    if (auto state = job->lock(); state && state->graph_serial == builder.serial())
      return {std::move(state), tasks};
  }
  throw Failure({ErrorCode::handle_foreign,
                 "these outputs belong to a graph that this session has not submitted",
                 "submit the graph first and keep the Job"});
}

static std::optional<detail::Settlement> settled(detail::JobState& state, const detail::Builder& builder,
                                                 std::uint32_t task, Duration limit = Duration::max()) {
  if (builder.serial() != state.graph_serial) {
    throw Failure({ErrorCode::handle_foreign, "the handle belongs to another graph than this job's"});
  }
  return state.wait_for(task, limit);
}

static Blob output_of(detail::Settlement settlement, const detail::JobState& state, std::uint32_t task) {
  if (settlement.error) throw Failure(*settlement.error);
  if (settlement.outcome == Outcome::finished) return std::move(settlement.output);
  throw Failure({settlement.outcome == Outcome::skipped ? ErrorCode::task_skipped : ErrorCode::task_cancelled,
                 state.label_of(task) + " was " + std::string(name(settlement.outcome))});
}

std::uint32_t Job::number_of(std::string_view task) const {
  const auto found = state_->client->outputs(state_->id, std::string(task));
  if (found.size() == 1) return found.begin()->first;
  throw Failure({ErrorCode::usage,
                 id() + " has " + (found.empty() ? "no task" : std::to_string(found.size()) + " tasks") +
                     " named '" + std::string(task) + "'",
                 "`dag result " + id() + "` lists its results"});
}

Blob Job::result(std::uint32_t task) const { return output_of(*state_->wait_for(task), *state_, task); }

Blob Job::result(const detail::Builder& builder, std::uint32_t task, std::chrono::nanoseconds limit) const {
  std::optional<detail::Settlement> settlement = settled(*state_, builder, task, limit);
  if (settlement) return output_of(*std::move(settlement), *state_, task);
  throw Failure({ErrorCode::timed_out,
                 "the output of " + state_->label_of(task) + " of " + id() +
                     " did not arrive within the limit of " + text_of(Duration(limit)),
                 "the job runs on: ask again, or see `dag explain " + id() + "`"});
}

std::optional<Blob> Job::result_now(const detail::Builder& builder, std::uint32_t task) const {
  std::optional<detail::Settlement> settlement = settled(*state_, builder, task, Duration(0));
  if (!settlement) return std::nullopt;
  return output_of(*std::move(settlement), *state_, task);
}

Outcome Job::ending(const detail::Builder& builder, std::uint32_t task) const {
  return settled(*state_, builder, task)->outcome;
}

bool Job::wait() const { return *state_->wait_for_end(std::nullopt); }

std::optional<bool> Job::wait(std::chrono::nanoseconds limit) const { return state_->wait_for_end(limit); }

void Job::cancel() const { state_->client->cancel(state_->id); }

std::string Job::id() const { return to_string(state_->id); }

std::vector<std::pair<Outcome, std::uint64_t>> Job::counts() const {
  const auto counts = state_->counts();
  return {counts.begin(), counts.end()};
}

}  // namespace dag
