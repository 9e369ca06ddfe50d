#include "tools/dag/work.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/json.hpp"
#include "tools/dag/command_kernel.hpp"
#include "tools/dag/process.hpp"
#include "tools/dag/terminal.hpp"

namespace dag::tool {
namespace {

using Clock = std::chrono::steady_clock;

/// How often it is looked for signals and shown how far it is.
constexpr auto turn = std::chrono::milliseconds(100);

struct Counts {
  std::uint64_t finished = 0, failed = 0, cancelled = 0;
  std::uint64_t ended() const { return finished + failed + cancelled; }
};

Counts counts_of(const Job& job) {
  Counts counts;
  for (const auto& [outcome, count] : job.counts()) {
    if (outcome == Outcome::finished) counts.finished = count;
    if (outcome == Outcome::failed) counts.failed = count;
    if (outcome == Outcome::cancelled || outcome == Outcome::skipped) counts.cancelled += count;
  }
  return counts;
}

/// One line on a terminal, written over and over; nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::size_t tasks) : tasks_(tasks), shown_(bars_on_stderr()) {}
  ~Progress() {
    if (shown_ && drawn_) std::fputs("\r\x1b[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const Counts& counts) {
    if (!shown_) return;
    drawn_ = true;
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    std::fprintf(stderr, "\r\x1b[K%llu of %zu tasks", static_cast<unsigned long long>(counts.ended()),
                 tasks_);
    if (counts.failed > 0)
      std::fprintf(stderr, ", %llu failed", static_cast<unsigned long long>(counts.failed));
    if (counts.ended() > 0) {
      std::fprintf(
          stderr, ", about %.0f s left",
          seconds / static_cast<double>(counts.ended()) * static_cast<double>(tasks_ - counts.ended()));
    }
    std::fflush(stderr);
  }

 private:
  std::size_t tasks_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
};

/// True: the user asked for the end.
bool wait_for(const Job& job, std::size_t tasks) {
  Progress progress(tasks);
  int asked = 0;
  while (!job.wait(turn)) {
    if (told_to_end()) {
      if (++asked == 1) {
        std::cerr << "dag: interrupted; running commands are told to end" << std::endl;
        job.cancel();
      } else {
        hurry();
      }
    }
    progress.show(counts_of(job));
  }
  return asked > 0;
}

/// What came of a task.
struct Ended {
  Outcome outcome = Outcome::none;
  std::optional<Ran> ran;  ///< its last run, if it had one
  std::string error;
};

/// Until the session is gone, and with it the threads that write to `ended`. True: interrupted.
bool run_here(Graph& graph, const std::vector<WorkTask>& tasks, const WorkOptions& options,
              std::vector<Ended>& ended) {
  std::string program = "dag", flag = "--dag-lanes", lanes = std::to_string(options.lanes);
  std::vector<char*> words{program.data()};
  if (options.lanes > 0) words.insert(words.end(), {flag.data(), lanes.data()});
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  Session session(count, words.data());
  session.on_event([&ended](const JobEvent& event) {
    const auto ran = event.kind == JobEvent::Kind::log ? ran_in(event.text) : std::nullopt;
    if (ran && ran->number < ended.size()) ended[ran->number].ran = *ran;
  });
  const Job job = session.submit(graph);
  const bool interrupted = wait_for(job, tasks.size());
  // The job has ended; a command that ran out of time may take a while to end, and must not outlive us.
  while (!wait_for_commands(turn)) {
    if (told_to_end()) hurry();
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ended[i].outcome = job.outcome(tasks[i].output);
    if (ended[i].outcome != Outcome::failed) continue;
    try {
      job.get(tasks[i].output);
    } catch (const Failure& failure) {
      ended[i].error = failure.error().what;
    }
  }
  return interrupted;
}

double seconds_between(Clock::time_point began, std::int64_t nanoseconds) {
  return std::chrono::duration<double>(std::chrono::nanoseconds(nanoseconds) - began.time_since_epoch())
      .count();
}

}  // namespace

int run_work(Graph& graph, const std::vector<WorkTask>& tasks, const WorkOptions& options) {
  block_signals();  // For the threads of the session too: wait_for() takes them.
  for (const char* name : {"DAG_RANK", "DAG_SIZE"}) unsetenv(name);  // It runs here, whoever started us.
  std::vector<Ended> ended(tasks.size());
  const auto began = Clock::now();
  const bool interrupted = run_here(graph, tasks, options, ended);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();

  nlohmann::json json{{"name", graph.name()}, {"seconds", seconds}, {"tasks", nlohmann::json::array()}};
  Counts counts;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Ended& task = ended[i];
    nlohmann::json one{{"id", tasks[i].id}, {"outcome", std::string(name(task.outcome))}};
    if (task.ran) {
      one["attempt"] = task.ran->attempt;
      one["began_seconds"] = seconds_between(began, task.ran->began_nanoseconds);
      one["ended_seconds"] = seconds_between(began, task.ran->ended_nanoseconds);
    }
    if (!task.error.empty()) one["error"] = task.error;
    if (!task.error.empty() && !interrupted) std::cerr << "dag: " << task.error << '\n';
    json["tasks"].push_back(std::move(one));
    ++(task.outcome == Outcome::finished ? counts.finished
       : task.outcome == Outcome::failed ? counts.failed
                                         : counts.cancelled);
  }
  json["finished"] = counts.finished;
  json["failed"] = counts.failed;
  json["not_run"] = counts.cancelled;
  if (options.json) std::cout << detail::json_text(json);
  if (interrupted) return exit_interrupted;
  if (counts.failed + counts.cancelled == 0) return exit_ok;
  std::cerr << "dag: " << counts.finished << " of " << tasks.size() << " tasks finished, " << counts.failed
            << " failed, " << counts.cancelled << " were not run\n";
  return exit_work_failed;
}

}  // namespace dag::tool
