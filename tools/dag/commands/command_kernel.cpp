#include "tools/dag/commands/command_kernel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "libdag/warden/warden.hpp"
#include "tools/dag/commands/command_output.hpp"

namespace dag::tool {
namespace {

/// How often a running task looks whether it is still wanted.
constexpr int look_every_ms = 50;
/// Time for a command to end by itself when it is told to.
constexpr std::int64_t grace_nanoseconds = 2'000'000'000;
constexpr std::chrono::milliseconds grace_of_orphans{grace_nanoseconds / 1'000'000};

std::atomic<bool> in_a_hurry{false};  // Set once, from the thread that gets signals.

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Reports the end of a run to the client, not in the log, which is the command's.
class Stopwatch {
 public:
  Stopwatch(Context& context, std::uint32_t number) : context_(context), number_(number) {}
  ~Stopwatch() {
    std::ostringstream line;
    line << "ran " << number_ << ' ' << context_.attempt() << ' ' << began_ << ' ' << steady_nanoseconds()
         << ' ' << is_good_;
    context_.progress(1, line.str());
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void is_good() { is_good_ = true; }

 private:
  Context& context_;
  std::uint32_t number_;
  std::int64_t began_ = steady_nanoseconds();
  bool is_good_ = false;
};

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {
    if (descriptor < 0) throw std::runtime_error("no handle of a command: " + std::string(strerror(errno)));
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Which commands run: `dag` must not end before them (wait_for_commands).
class RunningCommand {
 public:
  RunningCommand() { change(1); }
  ~RunningCommand() { change(-1); }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  static bool none_within(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [] { return count_ == 0; });
  }

 private:
  static void change(int by) {
    const std::lock_guard lock(mutex_);
    count_ += by;
    changed_.notify_all();
  }

  inline static std::mutex mutex_;
  inline static std::condition_variable changed_;
  inline static int count_ = 0;
};

/// Until the command has ended, and all that it started. Its status as waitpid has it. Calls `look` again and
/// again meanwhile.
template <class Look>
int wait_for(pid_t warden, Context& context, Look look) {
  const File handle(static_cast<int>(syscall(SYS_pidfd_open, warden, 0)));
  bool told = false;
  std::int64_t killed_at = 0;
  pollfd ended{handle.get(), POLLIN, 0};
  while (poll(&ended, 1, look_every_ms) == 0) {
    look();
    if (!context.cancelled() && !in_a_hurry.load()) continue;
    if (!told) {
      kill(warden, SIGTERM);
      killed_at = steady_nanoseconds() + grace_nanoseconds;
      told = true;
    }
    if (in_a_hurry.load() || steady_nanoseconds() >= killed_at) warden::end_now(warden);
  }
  return warden::wait(warden);
}

std::vector<std::string> environment_of(const CommandLine& command, std::uint32_t attempt) {
  std::map<std::string, std::string> changes;
  for (const std::string& assignment : command.environment) {
    const std::size_t equals = assignment.find('=');
    changes[assignment.substr(0, equals)] = assignment.substr(std::min(equals, assignment.size() - 1) + 1);
  }
  changes["DAG_ATTEMPT"] = std::to_string(attempt);
  return warden::environment_with(changes);
}

/// Where the files of its output begin; empty: there are none.
std::string files_of(const CommandLine& command, const Context& context) {
  if (command.files.empty()) return {};
  if (!command.directory.empty() && !std::filesystem::is_directory(command.directory)) {
    throw std::runtime_error("there is no directory '" + command.directory + "' at " +
                             std::string(context.device()));
  }
  const std::string key = context.task_key();
  return files_of_job(command.files, key.substr(0, key.find('/')));
}

}  // namespace

/// The files that a command writes. A command that knows nothing of staging writes a file in its place: the
/// file is then taken from there, when the command has succeeded, and published with the others. What a
/// command that failed has written in that place goes, unless it was there before.
class Outputs {
 public:
  Outputs(Context& context, const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      files_.push_back({std::filesystem::absolute(path), context.stage(path), {}});
      files_.back().before = seen(files_.back().path);
    }
  }
  ~Outputs() {
    for (const File& file : files_) {
      std::error_code ignored;
      if (seen(file.path) != file.before) std::filesystem::remove(file.path, ignored);
    }
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  std::vector<std::string> environment() const {
    std::vector<std::string> all;
    for (const File& file : files_)
      all.push_back("DAG_OUTPUT_" + std::to_string(all.size() + 1) + "=" + file.staged.string());
    return all;
  }
  void take() const {
    namespace fs = std::filesystem;
    for (const File& file : files_) {
      if (fs::exists(file.staged)) continue;
      if (!fs::is_regular_file(file.path))
        throw std::runtime_error("exit status 0, but its output '" + file.path.string() + "' is not a file");
      std::error_code failed;
      if (seen(file.path) != file.before) fs::rename(file.path, file.staged, failed);
      // The command left the file as it was, or the stage is on another disk.
      if (!fs::exists(file.staged)) fs::copy_file(file.path, file.staged);
    }
  }

 private:
  /// Which file lies there, and when it was changed last; a file that is written again differs.
  using Seen = std::tuple<dev_t, ino_t, std::int64_t, std::int64_t, off_t>;
  struct File {
    std::filesystem::path path, staged;
    Seen before;
  };
  static Seen seen(const std::filesystem::path& path) {
    struct stat at {};
    if (lstat(path.c_str(), &at) != 0) return {};
    return {at.st_dev, at.st_ino, at.st_ctim.tv_sec, at.st_ctim.tv_nsec, at.st_size};
  }

  std::vector<File> files_;
};

std::string files_of_job(std::string files, const std::string& job) {
  constexpr std::string_view placeholder = "{job}";
  if (const auto at = files.find(placeholder); at != files.npos) files.replace(at, placeholder.size(), job);
  return files;
}

void run_command(Context& context, const CommandLine& command) {
  Stopwatch stopwatch(context, command.number);
  const std::string files = files_of(command, context);
  const auto path = [&](const char* ending) { return files.empty() ? "" : files + ending; };
  CommandOutput out(path(ending_of_stdout), context.attempt()),
      err(path(ending_of_stderr), context.attempt());
  const Outputs outputs(context, command.outputs);
  CommandLine with_outputs = command;
  for (std::string& variable : outputs.environment()) with_outputs.environment.push_back(std::move(variable));
  const RunningCommand running;
  warden::Call call{command.words, environment_of(with_outputs, context.attempt())};
  const File nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  call.input = nothing.get();
  call.output = out.file();
  call.errors = err.file();
  call.directory = command.directory;
  call.grace_of_orphans = grace_of_orphans;
  const auto log = [&](bool all) {
    if (command.prints) return;
    out.log_news(context, all);
    err.log_news(context, all);
  };
  const int status = wait_for(warden::start(call).warden, context, [&] { log(false); });
  log(true);
  if (command.prints) out.copy_to(command.output_to_stderr ? stderr : stdout);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    if (command.prints) err.copy_to(stderr);
    outputs.take();
    return stopwatch.is_good();
  }
  const std::string tail = err.tail();
  std::string why = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                      : "ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                            strsignal(WTERMSIG(status)) + ")";
  throw std::runtime_error(why +
                           (tail.empty() ? "; it said nothing on stderr" : "; its stderr ends with" + tail));
}

void replay(Context& context, const Replayed& task) {
  Stopwatch stopwatch(context, task.number);
  const std::int64_t until = steady_nanoseconds() + task.takes_nanoseconds;
  for (std::int64_t left = task.takes_nanoseconds; left > 0 && !context.cancelled() && !in_a_hurry.load();
       left = until - steady_nanoseconds()) {
    if (task.burn) continue;
    const std::int64_t slice = std::min<std::int64_t>(left, look_every_ms * std::int64_t{1'000'000});
    const timespec pause{0, slice};
    nanosleep(&pause, nullptr);
  }
  stopwatch.is_good();
}

std::optional<Ran> ran_in(std::string_view line) {
  if (!line.starts_with("ran ")) return std::nullopt;
  std::istringstream words{std::string(line.substr(4))};
  Ran ran;
  if (!(words >> ran.number >> ran.attempt >> ran.began_nanoseconds >> ran.ended_nanoseconds >> ran.is_good))
    return std::nullopt;
  return ran;
}

void hurry() { in_a_hurry.store(true); }

bool wait_for_commands(std::chrono::milliseconds limit) { return RunningCommand::none_within(limit); }

}  // namespace dag::tool
