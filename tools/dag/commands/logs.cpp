// `dag logs`: log lines of a job's tasks and its processes' output; as they come, if that is wanted.

#include <chrono>
#include <iostream>
#include <list>
#include <thread>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/explain.hpp"
#include "libdag/client/followed_log.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/views/print.hpp"
#include "tools/dag/views/progress.hpp"

namespace dag::tool {
namespace {

using detail::LogLine;

struct LogOptions {
  SharedOptions cluster;
  std::string what;
  bool follow = false, times = false;
  std::optional<std::size_t> tail;
  double patience = 30;  ///< seconds
  std::shared_ptr<std::vector<std::string>> from;
};

constexpr auto logs_asked_every = std::chrono::milliseconds(300);
constexpr auto ask_again_every = std::chrono::milliseconds(500);

class LogPrinter {
 public:
  LogPrinter(const LogOptions& options, JobId job, std::string task)
      : json_(options.cluster->json),
        times_(options.times),
        job_(job),
        task_(std::move(task)),
        filter_{detail::selector_of(task_)} {}

  const detail::LogFilter& filter() const { return filter_; }
  bool takes(const LogLine& line) {
    const bool taken = filter_.takes(line);
    if (taken && !line.gap) ++taken_;
    return taken;
  }
  /// Prints a line that takes() accepted.
  void print(const LogLine& line) const {
    if (json_) {
      std::cout << json_line(to_json(line, job_));
    } else if (line.gap) {
      std::cout << "--- " << (line.place.empty() ? "" : line.place + ": ") << shown(line.text) << " ---\n";
    } else {
      std::cout << (times_ ? detail::utc_text(line.unix_ns) + "  " : "") << shown(prefix_of(line)) << ": "
                << shown(line.text) << '\n';
    }
  }
  /// To be called when all is printed: says why, if there was nothing to print.
  int end() const {
    std::cout.flush();
    if (taken_ > 0 || task_.empty()) return exit_ok;
    std::cerr << "dag: no log lines of a task '" << shown(task_) << "' of " << to_string(job_)
              << ". Output of processes: `dag logs " << to_string(job_) << "`\n";
    return exit_unknown;
  }

 private:
  const bool json_, times_;
  const JobId job_;
  const std::string task_;
  const detail::LogFilter filter_;
  std::uint64_t taken_ = 0;
};

/// Keeps the newest lines of a stream, as many as are wanted, and all notes about gaps.
class Newest {
 public:
  explicit Newest(std::size_t most) : most_(most) {}
  void add(LogLine line) {
    lines_ += line.gap ? 0 : 1;
    kept_.push_back(std::move(line));
    for (auto one = kept_.begin(); lines_ > most_ && one != kept_.end();) {
      if (one->gap) {
        ++one;
        continue;
      }
      one = kept_.erase(one);
      --lines_;
    }
  }
  const std::list<LogLine>& kept() const { return kept_; }

 private:
  const std::size_t most_;
  std::size_t lines_ = 0;
  std::list<LogLine> kept_;
};

// ---- Following

/// Goes on while the cluster is away, for a while.
class Patience {
 public:
  Patience(JobId job, double seconds)
      : job_(job), limit_(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds))) {}

  void on_answer() {
    if (std::exchange(lost_at_, std::nullopt)) std::cerr << "dag: the cluster answers again" << std::endl;
  }
  /// Throws Failure(cluster_lost) when the patience is at an end.
  void on_failure(const Error& why) {
    const Instant now = steady_now();
    if (!lost_at_) {
      lost_at_ = now;
      std::cout.flush();
      std::cerr << "dag: " << name(why.code) << ": " << shown(why.what) << "; trying again for "
                << text_of(limit_) << std::endl;
    }
    if (now - *lost_at_ < limit_) return;
    throw Failure({ErrorCode::cluster_lost, "no answer about " + to_string(job_) + " for " + text_of(limit_),
                   "`dag logs -f " + to_string(job_) + " --address HOST:PORT` asks another node", why.what});
  }

 private:
  const JobId job_;
  const Duration limit_;
  std::optional<Instant> lost_at_;
};

/// The last lines may come some moments after the job's end.
constexpr int empty_looks = 3;

/// True: the job has ended. `known`: the job was there.
bool has_ended_here(detail::FollowedLog& log, bool known) {
  try {
    return log.is_over();
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::job_unknown || !known) throw;
    return true;  // Nodes forget what ended long ago.
  }
}

int follow(const LogOptions& options, JobId job, LogPrinter& printer) {
  end_when_interrupted(false);
  detail::FollowOptions how;
  how.filter = printer.filter();
  detail::FollowedLog log(address_of(*options.cluster), job, how);
  Patience patience(job, options.patience);
  bool known = false, first = true;
  for (int ended_looks = 0; ended_looks <= empty_looks;) {
    try {
      detail::FollowedLog::News news = log.look();
      patience.on_answer();
      Newest newest(first && options.tail ? *options.tail : news.lines.size());
      if (news.older > 0 && !(first && options.tail))
        newest.add(detail::gap_line(0, "", std::to_string(news.older) + " older lines are left out"));
      const bool empty = news.lines.empty();
      for (LogLine& line : news.lines) {
        known = known || !line.gap;
        if (printer.takes(line)) newest.add(std::move(line));
      }
      for (const LogLine& line : newest.kept()) printer.print(line);
      std::cout.flush();
      const bool over = has_ended_here(log, known);
      known = true;
      ended_looks = !over ? 0 : empty ? ended_looks + 1 : 1;
      first = false;
      std::this_thread::sleep_for(logs_asked_every);
    } catch (const Failure& failure) {
      if (first) throw;
      patience.on_failure(failure.error());
      std::this_thread::sleep_for(ask_again_every);
    }
    if (!std::cout) return exit_ok;  // The reader has closed the pipe.
  }
  return printer.end();
}

// ---- All lines so far

int print_all(const LogOptions& options, JobId job, LogPrinter& printer) {
  detail::GatherLimits limits;
  limits.logs = true;
  limits.which = printer.filter().tasks;
  std::optional<ChosenJournals> journals;
  try {
    journals.emplace(*options.cluster, job, *options.from, limits);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::job_unknown || !options.from->empty()) throw;
    info_of(*connect_for(*options.cluster, job), job);  // Throws where nobody knows it.
    if (!limits.which.takes_all()) return printer.end();
    std::cerr
        << "dag: " << to_string(job)
        << " has no log lines, or its nodes keep no journal of it (journal = false, journal_runs = false)\n";
    return exit_ok;
  }
  detail::JournalView view(journals->paths());
  Newest newest(options.tail.value_or(0));
  while (const auto entry = view.next()) {
    if (entry->record.job != job) continue;
    for (LogLine& line : detail::lines_in(*entry)) {
      if (!printer.takes(line)) continue;
      if (options.tail) {
        newest.add(std::move(line));
      } else {
        printer.print(line);
      }
    }
    if (!std::cout) return exit_ok;
  }
  for (const LogLine& line : newest.kept()) printer.print(line);
  const int status = printer.end();
  for (const std::string& notice : view.notices()) std::cerr << "dag: " << notice << '\n';
  return status;
}

int logs(const LogOptions& options) {
  const auto [job, task] = job_and_task_of(options.what, *options.cluster, *options.from);
  LogPrinter printer(options, job, task);
  return options.follow ? follow(options, job, printer) : print_all(options, job, printer);
}

}  // namespace

void add_logs(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("logs", "print log lines of a job's tasks and output of its processes");
  const auto options = std::make_shared<LogOptions>();
  options->cluster = add_options(*command);
  command
      ->add_option("what", options->what,
                   "job7, or job7/TASK: a task's name or number, or numbers: 7/3-9, 7/train/3-9")
      ->required();
  auto* follow = command->add_flag("-f,--follow", options->follow, "print new lines until the job has ended");
  command->add_option("--tail", options->tail, "only the newest lines, this many");
  command->add_flag("--times", options->times, "print the time of each line (UTC)");
  options->from = add_from(*command);
  command->get_option("--from")->excludes(follow);
  add_patience(*command, options->patience);
  command->footer(
      "A line of Context::log begins with its task, as in train (7)@n1#2: attempt 2 of task 7, 'train', on\n"
      "node n1. A line that a process printed begins with the process: n1/w1. A line between --- marks a "
      "gap.\n"
      "The lines are in the journals of nodes, also when the job or the cluster is gone (--from DIR).");
  command->callback([=, &chosen] { chosen = [=] { return logs(*options); }; });
}

}  // namespace dag::tool
