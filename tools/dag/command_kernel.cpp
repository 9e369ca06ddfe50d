#include "tools/dag/command_kernel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tools/dag/terminal.hpp"

namespace dag::tool {
namespace {

/// How often a running task looks whether it is still wanted.
constexpr int look_every_ms = 50;
/// What a command may take to end by itself when it is told to.
constexpr std::int64_t grace_nanoseconds = 2'000'000'000;
/// Of its stderr, in the message about a failure.
constexpr std::size_t tail_lines = 10, tail_bytes = 2000;

std::atomic<bool> in_a_hurry{false};  // Set once, from the thread that gets signals.

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Says when a run ended, however it ended.
class Stopwatch {
 public:
  Stopwatch(Context& context, std::uint32_t number) : context_(context), number_(number) {}
  ~Stopwatch() {
    std::ostringstream line;
    line << "ran " << number_ << ' ' << context_.attempt() << ' ' << began_ << ' ' << steady_nanoseconds();
    context_.log(line.str());
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  std::int64_t began() const { return began_; }

 private:
  Context& context_;
  std::uint32_t number_;
  std::int64_t began_ = steady_nanoseconds();
};

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {
    if (descriptor < 0)
      throw std::runtime_error("no file for a command's output: " + std::string(strerror(errno)));
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

std::string_view name_of(std::string_view assignment) { return assignment.substr(0, assignment.find('=')); }

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const bool changed = std::any_of(changes.begin(), changes.end(), [&](const std::string& change) {
      return name_of(change) == name_of(*at);
    });
    if (!changed) all.emplace_back(*at);
  }
  all.insert(all.end(), changes.begin(), changes.end());
  return all;
}

/// A program that is about to start: everything that needs memory is ready, since other threads of this
/// process may hold the allocator's locks when it forks.
struct Start {
  const CommandLine& command;
  int out = -1, err = -1;
  std::vector<std::string> environment = environment_with(command.environment);
  std::vector<char*> words = pointers(command.words), variables = pointers(environment);
  std::string complaint = "dag: cannot start '" + command.words.at(0) + "'";
  std::string elsewhere = "dag: cannot go to '" + command.directory + "'";

  [[noreturn]] void become() const {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (dup2(input, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
      _exit(126);
    if (!command.directory.empty() && chdir(command.directory.c_str()) != 0) give_up(elsewhere);
    execvpe(words[0], words.data(), variables.data());
    give_up(complaint);
  }

 private:
  [[noreturn]] static void give_up(const std::string& why) {
    const char* reason = strerrordesc_np(errno);
    static_cast<void>(!write(STDERR_FILENO, why.data(), why.size()));
    static_cast<void>(!write(STDERR_FILENO, ": ", 2));
    static_cast<void>(!write(STDERR_FILENO, reason, strlen(reason)));
    static_cast<void>(!write(STDERR_FILENO, "\n", 1));
    _exit(127);
  }
};

/// Its status as waitpid has it.
int wait_for(pid_t child, Context& context) {
  const File handle(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  bool told = false;
  std::int64_t killed_at = 0;
  pollfd ended{handle.get(), POLLIN, 0};
  while (poll(&ended, 1, look_every_ms) == 0) {
    if (!context.cancelled() && !in_a_hurry.load()) continue;
    if (!told) {
      kill(-child, SIGTERM);
      killed_at = steady_nanoseconds() + grace_nanoseconds;
      told = true;
    }
    if (in_a_hurry.load() || steady_nanoseconds() >= killed_at) kill(-child, SIGKILL);
  }
  if (told) kill(-child, SIGKILL);  // What it started itself.
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/// All that the file holds, in one piece between those of other commands.
/// Where a progress line is on the same terminal, the output takes the line's place, and ends its own line.
void copy_to(std::FILE* to, int from) {
  const bool over_a_bar = bars_on_stderr() && isatty(fileno(to)) == 1;
  flockfile(to);
  lseek(from, 0, SEEK_SET);
  char buffer[65536];
  char last = '\n';
  bool begun = false;
  for (ssize_t got = 0; (got = read(from, buffer, sizeof buffer)) > 0;) {
    if (over_a_bar && !std::exchange(begun, true)) fputs_unlocked("\r\x1b[K", to);
    if (fwrite_unlocked(buffer, 1, static_cast<std::size_t>(got), to) < static_cast<std::size_t>(got)) break;
    last = buffer[got - 1];
  }
  if (over_a_bar && last != '\n') putc_unlocked('\n', to);
  fflush_unlocked(to);
  funlockfile(to);
}

/// The last lines, each indented.
std::string end_of(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(std::max<off_t>(size, 0)), tail_bytes),
                   '\0');
  const ssize_t got = pread(file, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t from = text.size();
  for (std::size_t lines = 0; lines < tail_lines && from != std::string::npos && from > 0; ++lines) {
    from = text.rfind('\n', from - 1);
  }
  if (from != std::string::npos && from > 0) text.erase(0, from + 1);
  std::string indented;
  for (const char c : "\n" + text) indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text.empty() ? "" : indented;
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

void run_command(Context& context, const CommandLine& command) {
  const Stopwatch stopwatch(context, command.number);
  const File out(memfd_create("dag-stdout", MFD_CLOEXEC)), err(memfd_create("dag-stderr", MFD_CLOEXEC));
  const Outputs outputs(context, command.outputs);
  CommandLine with_attempt = command;
  for (std::string& variable : outputs.environment()) with_attempt.environment.push_back(std::move(variable));
  with_attempt.environment.push_back("DAG_ATTEMPT=" + std::to_string(context.attempt()));
  const Start start{with_attempt, out.get(), err.get()};
  const pid_t child = fork();
  if (child == 0) start.become();
  if (child < 0) throw std::runtime_error("no process for a command: " + std::string(strerror(errno)));
  setpgid(child, child);  // Whoever comes first: the child does it too.
  const int status = wait_for(child, context);
  copy_to(command.output_to_stderr ? stderr : stdout, out.get());
  const std::string tail = end_of(err.get());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    copy_to(stderr, err.get());
    return outputs.take();
  }
  std::string why = WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                      : "ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                            strsignal(WTERMSIG(status)) + ")";
  throw std::runtime_error(why +
                           (tail.empty() ? "; it said nothing on stderr" : "; its stderr ends with" + tail));
}

void replay(Context& context, const Replayed& task) {
  const Stopwatch stopwatch(context, task.number);
  const std::int64_t until = stopwatch.began() + task.takes_nanoseconds;
  for (std::int64_t left = task.takes_nanoseconds; left > 0 && !context.cancelled() && !in_a_hurry.load();
       left = until - steady_nanoseconds()) {
    if (task.burn) continue;
    const std::int64_t slice = std::min<std::int64_t>(left, look_every_ms * std::int64_t{1'000'000});
    const timespec pause{0, slice};
    nanosleep(&pause, nullptr);
  }
}

std::optional<Ran> ran_in(std::string_view line) {
  if (!line.starts_with("ran ")) return std::nullopt;
  std::istringstream words{std::string(line.substr(4))};
  Ran ran;
  if (!(words >> ran.number >> ran.attempt >> ran.began_nanoseconds >> ran.ended_nanoseconds))
    return std::nullopt;
  return ran;
}

void hurry() { in_a_hurry.store(true); }

}  // namespace dag::tool
