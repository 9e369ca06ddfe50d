#include "libdag/warden/warden.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "libdag/warden/control_group.hpp"
#include "libdag/warden/group.hpp"
#include "libdag/warden/image.hpp"
#include "libdag/warden/report.hpp"
#include "libdag/warden/run.hpp"

extern char** environ;

namespace dag::warden {
namespace {

using warden_detail::Group;
using warden_detail::Report;
using warden_detail::Stage;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

class File {
 public:
  explicit File(int descriptor = -1) : descriptor_(descriptor) {}
  ~File() { reset(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  void reset() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

/// The warden as a file, for the life of this process. Close-on-exec and sealed. -1: a limit on the size of
/// files forbids it.
int image_file() {
  static const int file = [] {
    const int made = memfd_create("dag-warden", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0) fail("no memory for a warden");
    const auto image = warden_detail::image();
    for (std::size_t at = 0; at < image.size();) {
      const ssize_t written = write(made, image.data() + at, image.size() - at);
      if (written <= 0) {
        const int problem = errno;
        close(made);
        if (problem == EFBIG) return -1;
        errno = problem;
        fail("no memory for a warden");
      }
      at += static_cast<std::size_t>(written);
    }
    fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    return made;
  }();
  return file;
}

/// Prefix of the directories of the wardens' control groups; the number of the warden follows. Looked up
/// once, and drawn, so that no other process's group has such a name. Empty: there are no groups.
const std::string& groups() {
  static const std::string prefix = [] {
    const std::string above = writable_control_group();
    std::uint64_t drawn = 0;
    if (above.empty() || getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) return std::string();
    char digits[17] = {};
    std::to_chars(digits, digits + 16, drawn, 16);
    return above + "/dag-" + digits + "-";
  }();
  return prefix;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Everything that needs memory is ready before the fork: afterwards locks of other threads may be held for
/// ever.
class Ready {
 public:
  Ready(const Call& call, int report, int image)
      : call_(call), report_(report), image_(image), environment_(call.environment) {
    words_ = {"dag-warden",
              std::to_string(report),
              std::to_string(call.program),
              std::to_string(getpid()),
              std::to_string(call.grace_of_orphans.count()),
              call.says_why_it_did_not_start ? "says" : "silent",
              groups()};
    words_.insert(words_.end(), call.words.begin(), call.words.end());
    word_pointers_ = pointers(words_);
    variable_pointers_ = pointers(environment_);
    elsewhere_ = "dag: cannot go to '" + call.directory + "'";
  }

  [[noreturn]] void become() const {
    // A group of its own: a signal to ours, as of a terminal, is not for the warden.
    setpgid(0, 0);
    if (call_.only_these_files) syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    place(call_.input, STDIN_FILENO);
    place(call_.output, STDOUT_FILENO);
    place(call_.errors, STDERR_FILENO);
    for (const int file : call_.inherits) fcntl(file, F_SETFD, 0);
    // Both end with the warden's own exec of the program.
    fcntl(report_, F_SETFD, 0);
    if (call_.program >= 0) fcntl(call_.program, F_SETFD, 0);
    if (!call_.directory.empty() && chdir(call_.directory.c_str()) != 0 &&
        (!call_.directory_may_be_gone || chdir("/") != 0))
      no_directory();
    take_limits();
    if (image_ < 0) run_here();
    fexecve(image_, word_pointers_.data(), variable_pointers_.data());
    say(Stage::no_process, errno);
    _exit(126);
  }

 private:
  static void place(int file, int as) {
    if (file >= 0 && dup2(file, as) < 0) _exit(126);
  }
  void take_limits() const {
    for (std::size_t which = 0; which < call_.soft_limits.size(); ++which) {
      const auto resource = static_cast<__rlimit_resource>(which);
      rlimit limit{};
      if (getrlimit(resource, &limit) != 0) continue;  // Another kernel may know fewer.
      limit.rlim_cur = std::min<rlim_t>(call_.soft_limits[which], limit.rlim_max);
      setrlimit(resource, &limit);
    }
  }
  /// As if by exec.
  [[noreturn]] void run_here() const {
    const long files = sysconf(_SC_OPEN_MAX);
    for (int file = 3; file < files; ++file) {
      const int flags = fcntl(file, F_GETFD);
      if (flags >= 0 && (flags & FD_CLOEXEC) != 0) close(file);
    }
    environ = const_cast<char**>(variable_pointers_.data());
    _exit(warden_detail::run(static_cast<int>(word_pointers_.size()) - 1,
                             const_cast<char**>(word_pointers_.data())));
  }
  void say(Stage stage, int value) const {
    const Report report{stage, value};
    static_cast<void>(!write(report_, &report, sizeof report));
  }
  [[noreturn]] void no_directory() const {
    const int reason = errno;
    const char* text = strerrordesc_np(reason);
    static_cast<void>(!write(STDERR_FILENO, elsewhere_.data(), elsewhere_.size()));
    static_cast<void>(!write(STDERR_FILENO, ": ", 2));
    static_cast<void>(!write(STDERR_FILENO, text, strlen(text)));
    static_cast<void>(!write(STDERR_FILENO, "\n", 1));
    say(Stage::no_directory, reason);
    _exit(127);
  }

  const Call& call_;
  const int report_, image_;
  std::vector<std::string> words_, environment_;
  std::vector<char*> word_pointers_, variable_pointers_;
  std::string elsewhere_;
};

/// Nothing: the other end is closed.
bool read_report(int file, Report& report) {
  for (;;) {
    const ssize_t got = read(file, &report, sizeof report);
    if (got < 0 && errno == EINTR) continue;
    return got == sizeof report;
  }
}

}  // namespace

Started start(const Call& call) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) fail("no pipe for a process that is to start");
  const File reads(pipes[0]);
  File writes(pipes[1]);
  const Ready ready(call, writes.get(), image_file());
  // A signal to the child must not meet handlers of ours.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Started started;
  started.warden = fork();
  if (started.warden == 0) ready.become();
  const int problem = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started.warden < 0) {
    errno = problem;
    fail("no new process");
  }
  writes.reset();
  Report report{};
  while (read_report(reads.get(), report)) {
    if (report.stage == Stage::process) {
      started.process = report.value;
    } else {
      started.failed = report.value;
    }
  }
  if (started.process == 0 && started.failed == 0) started.failed = ECHILD;  // Killed at once.
  return started;
}

void end_now(pid_t warden) { kill(warden, SIGUSR1); }

void end_what_is_left(pid_t warden) {
  Group group(groups().c_str(), warden, Group::As::found);
  for (int in_vain = 0; in_vain < warden_detail::looks_in_vain_max && !group.remove(); ++in_vain) {
    group.kill();
    const timespec wait{0, warden_detail::look_every_ns};
    nanosleep(&wait, nullptr);
  }
}

bool has_control_groups() {
  Group group(groups().c_str(), getpid(), Group::As::made);
  return group.exists() && group.remove();
}

int wait(pid_t warden) {
  siginfo_t ended{};
  // Its number is not reused before waitpid().
  while (waitid(P_PID, static_cast<id_t>(warden), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  end_what_is_left(warden);
  int status = 0;
  while (waitpid(warden, &status, 0) < 0) {
    if (errno != EINTR) fail("how a process ended is not known");
  }
  return status;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string variable = *at;
    if (!changes.contains(variable.substr(0, variable.find('=')))) all.push_back(variable);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

}  // namespace dag::warden
