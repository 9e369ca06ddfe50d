#include "tools/dag/cluster/process.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "dag/error.hpp"
#include "libdag/warden/warden.hpp"

namespace dag::tool {
namespace {

/// Time for a program to end after SIGTERM when we were killed.
constexpr std::chrono::milliseconds orphans_end_within{2000};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGQUIT);
  sigaddset(&set, SIGCHLD);
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);  // Else nohup has started us.
  return set;
}

[[noreturn]] void report_and_end(int report) {
  const int reason = errno;
  if (write(report, &reason, sizeof reason) != sizeof reason) _exit(126);
  _exit(127);
}

/// In a child: it gets SIGTERM when the launcher dies.
void end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // The launcher died before prctl.
}

/// In the child. Says over `report` why the program could not be started; on success the pipe closes by exec.
[[noreturn]] void become(const ProgramCall& command, int report) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Its own group: a Ctrl-C at the terminal reaches the launcher alone, which then ends the children in
  // order.
  setpgid(0, 0);
  // The program outlives our caller, so it must not inherit the caller's locks or pipes.
  syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  const int log = open(command.log_file.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (log < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
      dup2(log, STDERR_FILENO) < 0) {
    report_and_end(report);
  }
  for (const int file : command.inherits) fcntl(file, F_SETFD, 0);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  report_and_end(report);
}

/// waitpid() of what start() may have started.
pid_t wait_for(pid_t child, int* waited, int how) {
  const pid_t ended = waitpid(child, waited, how);
  if (ended > 0) warden::end_what_is_left(ended);
  return ended;
}

ChildEnd end_of(pid_t child, int waited) {
  if (WIFEXITED(waited)) return {child, WEXITSTATUS(waited), 0};
  return {child, 128 + WTERMSIG(waited), WTERMSIG(waited)};
}

}  // namespace

std::string describe(const ChildEnd& end) {
  if (end.signal == 0) return "ended with status " + std::to_string(end.status);
  const char* description = sigdescr_np(end.signal);
  return "was ended by signal " + std::to_string(end.signal) +
         (description == nullptr ? "" : " (" + std::string(description) + ")");
}

void block_signals() {
  const sigset_t set = watched_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

std::vector<std::string> job_words(std::vector<std::string> words) {
  if (words.size() > 1 && words[1] == "--") words.erase(words.begin() + 1);
  return words;
}

static Failure not_started(const ProgramCall& command, int reason) {
  return Failure({ErrorCode::usage, "cannot start '" + command.words[0] + "': " + strerror(reason),
                  reason == ENOEXEC ? "it is not a program; give the job's binary"
                                    : "give the path of the job's binary, as in ./build/release/bin/hello"});
}

/// The program and all its descendants end with us.
static pid_t start_under_warden(const ProgramCall& command) {
  warden::Call call{command.words, warden::environment_with(command.environment)};
  call.inherits = command.inherits;
  call.grace_of_orphans = orphans_end_within;
  call.says_why_it_did_not_start = false;
  const warden::Started started = warden::start(call);
  if (started.failed == 0) return started.warden;
  wait_for(started.warden, nullptr, 0);
  throw not_started(command, started.failed);
}

pid_t start(const ProgramCall& command) {
  if (command.log_file.empty()) return start_under_warden(command);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    throw Failure({ErrorCode::internal, "no pipe: " + std::string(strerror(errno))});
  const pid_t child = fork();
  if (child == 0) become(command, report[1]);
  close(report[1]);
  int reason = 0;
  const bool failed = child < 0 || read(report[0], &reason, sizeof reason) == sizeof reason;
  close(report[0]);
  if (!failed) return child;
  if (child > 0) waitpid(child, nullptr, 0);
  throw not_started(command, reason);
}

Waited wait_for_child() {
  const sigset_t set = watched_signals();
  for (;;) {
    int waited = 0;
    const pid_t child = wait_for(-1, &waited, WNOHANG);
    if (child > 0) return {end_of(child, waited), 0};
    if (child < 0 && errno != EINTR) {
      throw Failure({ErrorCode::internal,
                     "how a process that was started ended is not known: " + std::string(strerror(errno))});
    }
    const int signal = sigwaitinfo(&set, nullptr);
    if (signal > 0 && signal != SIGCHLD) return {{}, signal};
  }
}

bool told_to_end() {
  sigset_t set = watched_signals();
  sigdelset(&set, SIGCHLD);
  const timespec now{0, 0};
  return sigtimedwait(&set, nullptr, &now) > 0;
}

// Where each node leads a session, the kernel divides each core between these (sched_autogroup, sched(7)): a
// thread that wakes on a core where others' lanes run, while the lanes of its own node run on another one,
// has nearly no weight there. Heartbeats and what is to be recorded waited for up to 0.8 s.
void lead_a_session() {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Failure({ErrorCode::internal, "no process: " + std::string(strerror(errno))});
  if (child == 0) {
    end_with(parent);
    setsid();
    return;
  }
  for (;;) {
    const Waited waited = wait_for_child();
    if (waited.signal == 0) _exit(waited.end.status);
    kill(child, waited.signal);
  }
}

void pause_for(std::chrono::milliseconds limit) {
  const sigset_t set = watched_signals();
  const timespec wait{limit.count() / 1000, limit.count() % 1000 * 1'000'000};
  const int signal = sigtimedwait(&set, nullptr, &wait);
  if (signal > 0 && signal != SIGCHLD) throw Failure({ErrorCode::interrupted, "interrupted"});
}

Ending end_all(std::vector<pid_t> children, std::chrono::milliseconds grace) {
  // Each child leads a group (become), so its descendants end with it.
  const std::vector<pid_t> groups = children;
  for (const pid_t group : groups) kill(-group, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + grace;
  const sigset_t set = watched_signals();
  Ending ending = Ending::in_time;
  while (ending == Ending::in_time) {
    std::erase_if(children, [](pid_t child) { return wait_for(child, nullptr, WNOHANG) != 0; });
    if (children.empty()) break;
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= left.zero()) {
      ending = Ending::too_late;
      break;
    }
    const timespec wait{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    const int signal = sigtimedwait(&set, nullptr, &wait);
    if (signal > 0 && signal != SIGCHLD) ending = Ending::hurried;
  }
  // SIGUSR1 tells a warden to end all, and ends a node, which does nothing about it; a stopped one, too.
  for (const pid_t group : groups) {
    kill(-group, SIGUSR1);
    kill(-group, SIGCONT);
  }
  for (const pid_t child : children) wait_for(child, nullptr, 0);
  return ending;
}

}  // namespace dag::tool
