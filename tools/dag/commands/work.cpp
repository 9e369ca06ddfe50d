#include "tools/dag/commands/work.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/json.hpp"
#include "tools/dag/cluster/process.hpp"
#include "tools/dag/commands/command_output.hpp"
#include "tools/dag/views/terminal.hpp"

namespace dag::tool {
namespace {

using Clock = std::chrono::steady_clock;

/// The interval of looking for signals and showing progress.
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

/// A line on a terminal, written over and over; nothing elsewhere.
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

enum class WorkEnd : std::uint8_t { by_itself, interrupted, left_alone };

/// The result of a task.
struct Ended {
  Outcome outcome = Outcome::none;
  std::optional<Ran> ran;  ///< its last run, if it had one
  std::string error;
};

/// The tasks' reports of their runs, from the thread that hears them to the one that waits.
class Runs {
 public:
  explicit Runs(bool elsewhere) : elsewhere_(elsewhere) {}
  void note(const JobEvent& event) {
    auto ran = event.kind == JobEvent::Kind::progress ? ran_in(event.text) : std::nullopt;
    if (ran && elsewhere_) {  // Another machine may have another clock: it ended just now by ours.
      const std::int64_t later =
          Clock::now().time_since_epoch() / std::chrono::nanoseconds(1) - ran->ended_nanoseconds;
      ran->began_nanoseconds += later;
      ran->ended_nanoseconds += later;
    }
    const std::lock_guard lock(mutex_);
    if (ran) new_.push_back(*ran);
  }
  std::vector<Ran> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(new_, {});
  }

 private:
  const bool elsewhere_;
  std::mutex mutex_;
  std::vector<Ran> new_;
};

/// A graph that was submitted.
class Work {
 public:
  Work(Job job, Runs& runs, const std::vector<WorkTask>& tasks, const WorkPlace& place, bool json)
      : job_(std::move(job)), runs_(runs), tasks_(tasks), place_(place), json_(json), ended_(tasks.size()) {
    if (!is_elsewhere() || tasks.empty() || tasks.front().files.empty()) return;
    const std::filesystem::path files = files_of_job(tasks.front().files, id());
    std::cerr << "dag: " << id() << ": output of commands is in " << files.parent_path().string()
              << " and in `dag logs " << id() << "`" << std::endl;
  }

  WorkEnd wait() {
    Progress progress(tasks_.size());
    WorkEnd ending = WorkEnd::by_itself;
    while (!job_.wait(turn)) {
      if (told_to_end() && (ending = on_signal(ending)) == WorkEnd::left_alone) return ending;
      hear();
      progress.show(counts_of(job_));
    }
    // The job has ended; a command of ours that ran out of time may take a while to end, and must not outlive
    // us.
    while (!is_elsewhere() && !wait_for_commands(turn)) {
      if (told_to_end()) hurry();
    }
    return ending;
  }

  /// The result of each task. The job has ended.
  const std::vector<Ended>& results() {
    hear();
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      ended_[i].outcome = job_.outcome(tasks_[i].output);
      if (is_elsewhere()) print(i, ended_[i].outcome == Outcome::finished);  // No report announced it.
      if (ended_[i].outcome != Outcome::failed) continue;
      try {
        job_.get(tasks_[i].output);
      } catch (const Failure& failure) {
        ended_[i].error = failure.error().what;
      }
    }
    return ended_;
  }

  std::string id() const { return job_.id(); }

 private:
  bool is_elsewhere() const { return !place_.address.empty(); }

  WorkEnd on_signal(WorkEnd before) {
    if (before == WorkEnd::by_itself) {
      std::cerr << "dag: interrupted; stopping running commands" << std::endl;
      job_.cancel();
      return WorkEnd::interrupted;
    }
    hurry();
    if (!is_elsewhere()) return before;
    std::cerr << "dag: detached before the end of " << id() << ". Wait for it: dag wait " << id()
              << std::endl;
    return WorkEnd::left_alone;
  }

  void hear() {
    for (const Ran& ran : runs_.take()) {
      if (ran.number >= ended_.size()) continue;
      ended_[ran.number].ran = ran;
      if (is_elsewhere()) print(ran.number, ran.is_good);
    }
  }

  /// Prints the output of a cluster's command, if its files are those of this machine, too.
  void print(std::size_t task, bool good) {
    if (tasks_[task].files.empty() || (!ended_[task].ran && !good)) return;
    const std::string files = files_of_job(tasks_[task].files, id());
    const bool are_here = printer_.print(files + ending_of_stdout, json_ ? stderr : stdout);
    if (good) {
      printer_.print(files + ending_of_stderr, stderr);
    } else {
      printer_.skip(files + ending_of_stderr);  // Its end is in the message about the failure.
    }
    if (!are_here && !std::exchange(said_where_, true)) {
      std::cerr << "dag: output of commands is on the nodes that ran them: dag logs " << id() << std::endl;
    }
  }

  const Job job_;
  Runs& runs_;
  const std::vector<WorkTask>& tasks_;
  const WorkPlace& place_;
  const bool json_;
  std::vector<Ended> ended_;
  FilePrinter printer_;
  bool said_where_ = false;
};

double seconds_since(Clock::time_point began, std::int64_t nanoseconds) {
  return std::chrono::duration<double>(std::chrono::nanoseconds(nanoseconds) - began.time_since_epoch())
      .count();
}

/// Flags of its Session.
std::vector<std::string> session_words(const WorkPlace& place, const WorkOptions& options) {
  std::vector<std::string> words{"dag"};
  if (!place.address.empty()) {
    words.insert(words.end(), {"--address", place.address});
  } else {
    words.push_back("--dag-local");
    if (options.lanes > 0) words.insert(words.end(), {"--dag-lanes", std::to_string(options.lanes)});
  }
  return words;
}

/// A command line as main() has it.
class CallWords {
 public:
  explicit CallWords(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
    count_ = static_cast<int>(words_.size());
  }
  int& count() { return count_; }
  char** pointers() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
  int count_ = 0;
};

}  // namespace

void add_work_options(CLI::App& command, WorkOptions& options) {
  options.cluster = add_options(command);
  command.add_flag("--local", options.here, "run in this process, not in a cluster");
  command
      .add_option("--lanes", options.lanes,
                  "without a cluster: commands that run at a time (default: the number of cores)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--output", options.output,
                     "directory for the output of commands, ID.out and ID.err; {job} stands for the job "
                     "(default: dag-{job} in a cluster, else none)");
}

WorkPlace place_of_work(const WorkOptions& options) {
  std::error_code gone;
  WorkPlace place{{}, std::filesystem::current_path(gone).string()};
  if (options.here) return place;
  const auto found = cluster_of(*options.cluster);
  if (!found) return place;
  if (options.lanes > 0) {
    throw Failure({ErrorCode::usage,
                   "--lanes is for work on this machine, and there is a " + found_text(*found),
                   "add --local, or leave --lanes out: a cluster has the lanes of its nodes"});
  }
  if (found->address != options.cluster->address)
    std::cerr << "dag: " << found_text(*found) << "; --local runs commands here" << std::endl;
  if (gone) {
    throw Failure({ErrorCode::usage, "the current directory is not there any more: " + gone.message(),
                   "start commands from a directory that nodes can find, or add --local"});
  }
  place.address = found->address;
  return place;
}

CommandLine placed(CommandLine command, const std::string& label, const WorkPlace& place,
                   const WorkOptions& options) {
  const std::filesystem::path here = place.directory;
  command.prints = place.address.empty();
  if (!options.output.empty() || !command.prints)
    command.files = here / (options.output.empty() ? "dag-{job}" : options.output) / label;
  if (command.prints) return command;
  command.directory = command.directory.empty() ? here : here / command.directory;
  for (std::string& output : command.outputs) output = here / output;
  return command;
}

void serve_if_started_by_node() {
  if (std::getenv("DAG_WORKER") == nullptr) return;
  CallWords words({"dag"});
  const Session session(words.count(), words.pointers());
}

int run_work(Graph& graph, const std::vector<WorkTask>& tasks, const WorkPlace& place,
             const WorkOptions& options) {
  block_signals();  // For the threads of the session too: Work::wait() takes them.
  for (const char* name : {"DAG_RANK", "DAG_SIZE"}) unsetenv(name);  // A client, whatever started us.
  if (!place.address.empty()) setenv("DAG_KEPT", "1", 1);            // For `dag retry` and `dag result`.
  CallWords words(session_words(place, options));
  const auto began = Clock::now();
  Runs runs(!place.address.empty());
  Session session(words.count(), words.pointers());
  session.on_event([&runs](const JobEvent& event) { runs.note(event); });
  Work work(session.submit(graph), runs, tasks, place, options.cluster->json);
  const WorkEnd ending = work.wait();
  if (ending == WorkEnd::left_alone) return exit_interrupted;
  const bool interrupted = ending == WorkEnd::interrupted;
  const std::vector<Ended> ended = work.results();
  const std::string job = work.id();
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();

  nlohmann::json json{{"name", graph.name()}, {"seconds", seconds}, {"tasks", nlohmann::json::array()}};
  if (!place.address.empty()) json["job"] = job;
  Counts counts;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Ended& task = ended[i];
    nlohmann::json one{{"id", tasks[i].id}, {"outcome", std::string(name(task.outcome))}};
    if (task.ran) {
      one["attempt"] = task.ran->attempt;
      one["began_seconds"] = seconds_since(began, task.ran->began_nanoseconds);
      one["ended_seconds"] = seconds_since(began, task.ran->ended_nanoseconds);
    }
    if (!tasks[i].files.empty()) {
      const std::string files = files_of_job(tasks[i].files, job);
      one["stdout"] = files + ending_of_stdout;
      one["stderr"] = files + ending_of_stderr;
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
  if (options.cluster->json) std::cout << detail::json_text(json);
  if (interrupted) return exit_interrupted;
  if (counts.failed + counts.cancelled == 0) return exit_ok;
  std::cerr << "dag: " << counts.finished << " of " << tasks.size() << " tasks finished, " << counts.failed
            << " failed, " << counts.cancelled << " were not run\n";
  return exit_work_failed;
}

}  // namespace dag::tool
