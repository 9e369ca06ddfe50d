// `dag logs`: what tasks of a job said and its processes printed; as it comes, if that is wanted.

#include <chrono>
#include <deque>
#include <iostream>
#include <thread>

#include "libdag/client/exit_status.hpp"
#include "libdag/client/followed_log.hpp"
#include "tools/dag/chosen_journals.hpp"
#include "tools/dag/commands.hpp"
#include "tools/dag/job_selector.hpp"
#include "tools/dag/print.hpp"
#include "tools/dag/progress.hpp"

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

constexpr auto look_every = std::chrono::milliseconds(300);
constexpr auto ask_again_every = std::chrono::milliseconds(500);

class LogPrinter {
 public:
  LogPrinter(const LogOptions& options, JobId job, std::string task)
      : json_(options.cluster->json), times_(options.times), job_(job), filter_{std::move(task)} {}

  void print(const LogLine& line) {
    if (!takes(line)) return;
    if (!line.gap) ++lines_;
    if (json_) {
      std::cout << json_line(to_json(line, job_));
    } else if (line.gap) {
      std::cout << "--- " << (line.place.empty() ? "" : line.place + ": ") << shown(line.text) << " ---\n";
    } else {
      std::cout << (times_ ? detail::utc_text(line.unix_ns) + "  " : "") << shown(prefix_of(line)) << ": "
                << shown(line.text) << '\n';
    }
  }
  /// What it does not take it knows to be there.
  bool takes(const LogLine& line) {
    const bool taken = filter_.takes(line);
    passed_over_ += taken ? 0 : 1;
    return taken;
  }
  /// When all is printed: why there is nothing, if there is nothing.
  int end() const {
    std::cout.flush();
    if (lines_ > 0 || passed_over_ == 0) return exit_ok;
    std::cerr << "dag: no task '" << shown(filter_.task) << "' of " << to_string(job_)
              << " said anything. What processes print is no task's: `dag logs " << to_string(job_)
              << "` has it\n";
    return exit_unknown;
  }

 private:
  const bool json_, times_;
  const JobId job_;
  const detail::LogFilter filter_;
  std::uint64_t lines_ = 0, passed_over_ = 0;
};

void print_newest(LogPrinter& printer, const std::vector<LogLine>& lines, std::optional<std::size_t> tail) {
  std::deque<const LogLine*> newest;
  for (const LogLine& line : lines) {
    newest.push_back(&line);
    if (tail && newest.size() > *tail) newest.pop_front();
  }
  for (const LogLine* line : newest) printer.print(*line);
  std::cout.flush();
}

// ---- As it comes --------------------------------------------------------------------------------

/// Goes on while the cluster is away, for a while.
class Patience {
 public:
  Patience(JobId job, double seconds)
      : job_(job), limit_(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds))) {}

  void on_answer() {
    if (std::exchange(lost_at_, std::nullopt)) std::cerr << "dag: the cluster answers again" << std::endl;
  }
  /// Throws Failure(cluster_lost) when it is at an end.
  void on_failure(const Error& why) {
    const Instant now = steady_now();
    if (!lost_at_) {
      lost_at_ = now;
      std::cout.flush();
      std::cerr << "dag: " << name(why.code) << ": " << shown(why.what) << "; the cluster is asked again for "
                << duration_text(limit_) << std::endl;
    }
    if (now - *lost_at_ < limit_) return;
    throw Failure({ErrorCode::cluster_lost,
                   "nothing was heard of " + to_string(job_) + " for " + duration_text(limit_),
                   "`dag logs -f " + to_string(job_) + " --address HOST:PORT` asks another node", why.what});
  }

 private:
  const JobId job_;
  const Duration limit_;
  std::optional<Instant> lost_at_;
};

int follow(const LogOptions& options, JobId job, LogPrinter& printer) {
  end_when_interrupted(false);
  detail::FollowedLog log(address_of(*options.cluster), job);
  Patience patience(job, options.patience);
  std::optional<std::size_t> tail = options.tail;
  for (bool first = true, over = false;;) {
    try {
      const bool over_now = log.is_over();  // Asked first: what it printed last comes a moment later.
      const detail::FollowedLog::News news = log.look();
      patience.on_answer();
      if (news.older > 0 && !tail)
        printer.print(detail::gap_line(0, "", std::to_string(news.older) + " older lines are left out"));
      std::vector<LogLine> wanted;
      for (const LogLine& line : news.lines) {
        if (!tail || printer.takes(line)) wanted.push_back(line);
      }
      print_newest(printer, wanted, tail);
      tail.reset();  // All that comes from now on.
      if (over && over_now && news.lines.empty()) return printer.end();
      over = over_now;
      first = false;
      std::this_thread::sleep_for(look_every);
    } catch (const Failure& failure) {
      if (first) throw;
      patience.on_failure(failure.error());
      std::this_thread::sleep_for(ask_again_every);
    }
    if (!std::cout) return exit_ok;  // Who reads it has seen enough.
  }
}

// ---- What there is ------------------------------------------------------------------------------

int print_all(const LogOptions& options, JobId job, LogPrinter& printer) {
  detail::GatherLimits limits;
  limits.logs = true;
  std::optional<ChosenJournals> journals;
  try {
    journals.emplace(*options.cluster, job, *options.from, limits);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::job_unknown || !options.from->empty()) throw;
    info_of(*connect_for(*options.cluster, job), job);  // Throws where nobody knows it.
    std::cerr
        << "dag: " << to_string(job)
        << " has said nothing, or its nodes keep nothing of it (journal = false, journal_runs = false)\n";
    return exit_ok;
  }
  detail::JournalView view(journals->paths());
  std::deque<LogLine> newest;
  while (const auto entry = view.next()) {
    if (entry->record.job != job) continue;
    for (LogLine& line : detail::lines_in(*entry)) {
      if (!options.tail || !printer.takes(line)) {
        printer.print(line);
        continue;
      }
      newest.push_back(std::move(line));
      if (newest.size() > *options.tail) newest.pop_front();
    }
    if (!std::cout) return exit_ok;
  }
  for (const LogLine& line : newest) printer.print(line);
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
  auto* command = app.add_subcommand("logs", "what the tasks of a job said and its processes printed");
  const auto options = std::make_shared<LogOptions>();
  options->cluster = add_options(*command);
  command->add_option("what", options->what, "job7, or job7/TASK: a task's name or number")->required();
  auto* follow = command->add_flag("-f,--follow", options->follow, "goes on until the job has ended");
  command->add_option("--tail", options->tail, "of what there is, only so many lines, the newest");
  command->add_flag("--times", options->times, "each line with its time (UTC)");
  options->from = add_from(*command);
  command->get_option("--from")->excludes(follow);
  add_patience(*command, options->patience);
  command->footer(
      "What a kernel says by Context::log has its task before it, as in train@n1#2: of the task 'train', on "
      "node n1,\n"
      "attempt 2. What a process prints has the process: n1/w1. A line of --- says that something is missing "
      "there.\n"
      "Nodes keep it in their journals, so it is there when the job, or the cluster, is gone (--from DIR).");
  command->callback([=, &chosen] { chosen = [=] { return logs(*options); }; });
}

}  // namespace dag::tool
