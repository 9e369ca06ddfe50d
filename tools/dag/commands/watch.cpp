// `dag watch`: follows a job until its end. Asks for the job again and again; progress.hpp decides
// the text.

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <thread>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/explain.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/durations.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/options.hpp"
#include "tools/dag/views/print.hpp"
#include "tools/dag/views/progress.hpp"

namespace dag::tool {
namespace {

struct HowWatched {
  std::optional<double> every;  ///< seconds
  double patience = 30;         ///< seconds
};

constexpr double every_on_terminal = 0.25, every_elsewhere = 1;
/// The pause between two nodes that are asked in turn.
constexpr auto pause_between_nodes = std::chrono::milliseconds(100);
constexpr auto connect_within = std::chrono::seconds(1);
constexpr Duration path_every = std::chrono::seconds(1);
/// The pause after a question to processes, as a multiple of the time that they took to answer.
constexpr int path_asking_part = 10;
/// An older critical path says nothing of now.
constexpr Duration path_kept = std::chrono::seconds(5);

Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

// ---- The job, as the cluster reports it

/// Asks any node that answers. When none does, they are asked again until the patience ends.
class Followed {
 public:
  using Say = std::function<void(const std::string&)>;
  Followed(const Options& options, JobId job, Duration patience, Say say)
      : options_(options),
        job_(job),
        patience_(patience),
        say_(std::move(say)),
        cluster_(connect_for(options, job)) {}

  /// From the last answer. Processes are asked less often than the job: each has to look at all its rows.
  const std::optional<PathLeft>& critical_path() const { return path_; }

  /// Throws Failure: the first time as it comes, later cluster_lost.
  JobInfo ask() {
    std::optional<Instant> lost_at;
    for (;; std::this_thread::sleep_for(pause_between_nodes)) {
      try {
        JobInfo job = ask_once();
        if (lost_at) say_("dag: the cluster answers again");
        return job;
      } catch (const Failure& failure) {
        if (nodes_.empty()) throw;
        on_lost(failure.error(), lost_at);
      }
    }
  }

 private:
  /// A node that `dag up` started again has another address, which the address file has.
  std::string next_address() {
    const std::size_t turn = next_++ % (nodes_.size() + 1);
    return turn < nodes_.size() ? nodes_[turn] : address_of(options_);
  }

  JobInfo ask_once() {
    if (!cluster_) cluster_ = detail::connect(next_address(), connect_within);
    const std::vector<NodeInfo> nodes = cluster_->nodes();
    JobInfo job = info_of(*cluster_, job_);
    nodes_.clear();
    for (const NodeInfo& node : nodes) {
      if (is_up(node.state)) nodes_.push_back(node.endpoint.control);
    }
    next_ = 1;  // The first one is the one that answered.
    ask_for_path(job);
    return job;
  }

  void ask_for_path(const JobInfo& job) {
    const Instant began = steady_now();
    if (job.phase != JobPhase::running || began - path_at_ > path_kept) path_.reset();
    if (job.phase != JobPhase::running || began < path_again_at_) return;
    TaskSelector what = detail::selector_of_none();
    what.critical_path = true;
    try {
      path_ = detail::critical_path_in(cluster_->explain(job_, what));
    } catch (const Failure& failure) {
      const ErrorCode code = failure.error().code;
      if (code != ErrorCode::job_unknown && code != ErrorCode::job_elsewhere && code != ErrorCode::no_quorum)
        throw;
      path_.reset();  // The job moves, or ends: the next look shows which.
    }
    const Instant ended = path_at_ = steady_now();
    path_again_at_ = ended + std::max(path_every, path_asking_part * (ended - began));
  }

  /// Also called where the answering node does not know the job: the node may have come back without it, and
  /// another one may have the job.
  void on_lost(const Error& why, std::optional<Instant>& lost_at) {
    cluster_.reset();
    const Instant now = steady_now();
    if (!lost_at) {
      lost_at = now;
      say_("dag: " + std::string(name(why.code)) + ": " + shown(why.what) + "; trying again for " +
           text_of(patience_));
    }
    if (now - *lost_at < patience_) return;
    throw Failure(
        {ErrorCode::cluster_lost, "no answer about " + to_string(job_) + " for " + text_of(patience_),
         "if nodes are left, `dag watch " + to_string(job_) + " --address HOST:PORT` asks another one",
         why.what});
  }

  const Options& options_;
  const JobId job_;
  const Duration patience_;
  const Say say_;
  std::unique_ptr<detail::Cluster> cluster_;
  std::vector<std::string> nodes_;  ///< addresses; empty: none has answered yet
  std::size_t next_ = 1;            ///< of them, when the connection is lost
  std::optional<PathLeft> path_;
  Instant path_at_, path_again_at_;
};

// ---- The watcher's side

class Display {
 public:
  enum class Form { drawing, lines, json };
  explicit Display(Form form) : form_(form) {}

  void show(const JobInfo& job, const std::optional<PathLeft>& path, Instant now) {
    pace_.on_counts(job.counts, now);
    if (form_ == Form::drawing) {
      const Screen screen = screen_now();
      drawing_.show(progress_lines(job, pace_, screen, path), screen);
    } else if (!told_ || is_news(*told_, job)) {
      std::cout << (form_ == Form::json ? json_line(progress_json(job, pace_, path))
                                        : progress_line(job, pace_, path))
                << std::flush;
      told_ = job;
    }
  }
  /// To stderr, below what is drawn.
  void say(const std::string& message) {
    std::cerr << message << std::endl;
    drawing_.leave();
  }

 private:
  const Form form_;
  Pace pace_;
  std::optional<JobInfo> told_;
  Drawing drawing_;
};

int watch(const Options& options, JobId job, const HowWatched& how) {
  const bool drawing = !options.json && draws_on_terminal();
  end_when_interrupted(drawing);
  Display display(options.json ? Display::Form::json
                  : drawing    ? Display::Form::drawing
                               : Display::Form::lines);
  const Duration every = duration_of(how.every.value_or(drawing ? every_on_terminal : every_elsewhere));
  Followed followed(options, job, duration_of(how.patience),
                    [&display](const std::string& message) { display.say(message); });
  for (;; std::this_thread::sleep_for(every)) {
    const JobInfo now = followed.ask();
    display.show(now, followed.critical_path(), steady_now());
    if (!std::cout) return exit_work_failed;  // Nobody sees it any more.
    if (now.phase == JobPhase::finished) return exit_ok;
    if (!has_ended(now.phase)) continue;
    if (now.error) display.say("dag: " + now.error->message());
    display.say("dag: `dag show " + to_string(job) + "` shows the outcomes of its tasks");
    return exit_work_failed;
  }
}

}  // namespace

void add_watch(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("watch", "follow a job until its end: progress, pace and time left");
  const auto options = add_options(*command);
  const auto job = add_job(*command);
  const auto how = std::make_shared<HowWatched>();
  takes_duration(command->add_option("--every", how->every,
                                     "the update interval (default: 250ms on a terminal, else 1s)"),
                 looks_every_min_seconds, looks_every_max_seconds);
  add_patience(*command, how->patience);
  command->footer(
      "On a terminal each update replaces the one before. Elsewhere, and with --json, a line is printed for "
      "each\n"
      "change, at most one per update. In bars, # is finished, ! failed, x skipped or cancelled; with "
      "NO_COLOR set\n"
      "there are neither bars nor colours. The critical path is the longest chain of the tasks that are "
      "left, by\n"
      "usual durations: about the time left with any number of lanes.\n"
      "Exit status: 0 the job finished, 1 it failed or was cancelled, 5 no such job, 8 the cluster was "
      "lost,\n"
      "130 interrupted; the job keeps running then.");
  command->callback([=, &chosen] { chosen = [=] { return watch(*options, job_of(*job, *options), *how); }; });
}

}  // namespace dag::tool
