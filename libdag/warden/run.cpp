// The warden: a small program (main.cpp) between a node or `dag` and each process that it starts. Descendants
// that lose their parent become the warden's children (PR_SET_CHILD_SUBREAPER), so none escapes, in any
// session or group. The warden ends when none of them is left, with the status of the process it started: a
// wait for the warden is a wait for all.
//
// If the starter's control group may have others in it (group.hpp), the process gets a group of its own. It
// kills descendants that fork faster than a look through /proc finds them. If the warden itself is killed,
// its waiting starter kills the group.
//
// Signals: SIGUSR1 ends all at once. SIGUSR2 says that the thread which started the warden is gone, and ends
// all after a grace. SIGTERM, SIGINT, SIGHUP and SIGQUIT go to the process and its group.
//
// A program of its own, static and without exceptions: it starts in a fraction of a millisecond, takes some
// 100 KiB, and shares no memory with a node that has much. nodes/workers/README.md says why it is not a
// thread. Where that program may not be written (a limit on the size of files), a fork of whoever starts it
// does the same.

#include "libdag/warden/run.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libdag/warden/group.hpp"
#include "libdag/warden/report.hpp"

extern char** environ;

namespace dag::warden_detail {
namespace {

struct Order {
  int report, program;
  pid_t parent;
  long grace_ms;
  bool says;
  const char* groups;
  char** words;
};

void say(int file, Stage stage, int value) {
  const Report report{stage, value};
  while (write(file, &report, sizeof report) < 0 && errno == EINTR) {
  }
}

void tell_user(const char* what, const char* name, int reason) {
  dprintf(STDERR_FILENO, "dag: cannot %s '%s': %s\n", what, name, strerror(reason));
}

/// Some starters ignore these on purpose: nohup, and a limit on the size of files that makes write() fail.
bool ignored_on_purpose(int number) {
  struct sigaction action {};
  return (number == SIGHUP || number == SIGXFSZ) && sigaction(number, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

[[noreturn]] void become(const Order& order, pid_t warden) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != warden) _exit(1);
  for (int number = 1; number < NSIG; ++number) {
    if (!ignored_on_purpose(number)) signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  fcntl(order.report, F_SETFD, FD_CLOEXEC);
  if (order.program >= 0) {
    fcntl(order.program, F_SETFD, FD_CLOEXEC);
    fexecve(order.program, order.words, environ);
  } else {
    execvp(order.words[0], order.words);
  }
  const int reason = errno;
  if (order.says) tell_user("start", order.words[0], reason);
  say(order.report, Stage::exec_failed, reason);
  _exit(127);
}

/// Kills every child, by looking through all processes: not each kernel lists the children of a process.
/// False: one of them may not be signalled.
bool kill_children() {
  DIR* all = opendir("/proc");
  if (all == nullptr) return false;
  const pid_t self = getpid();
  bool may = true;
  while (const dirent* entry = readdir(all)) {
    const int pid = atoi(entry->d_name);
    if (pid <= 0) continue;
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0) continue;
    text[got] = '\0';
    const char* after_name = strrchr(text, ')');  // The name may hold anything.
    char state = 0;
    int parent = 0;
    if (after_name == nullptr || sscanf(after_name + 1, " %c %d", &state, &parent) != 2) continue;
    if (parent != self || state == 'Z') continue;
    if (kill(pid, SIGKILL) != 0 && errno == EPERM) may = false;
  }
  closedir(all);
  return may;
}

class Watch {
 public:
  Watch(const Order& order, pid_t process, Group& group) : order_(order), process_(process), group_(group) {}

  int until_all_have_ended() {
    while (!ended_) {
      sigset_t all;
      sigfillset(&all);
      const int number = sigwaitinfo(&all, nullptr);
      if (number == SIGCHLD) {
        reap();
      } else if (number == SIGUSR1) {
        break;
      } else if (number == SIGUSR2) {
        forward(SIGTERM);
        wait_for_process(order_.grace_ms);
        break;
      } else if (number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT) {
        forward(number);
      }
    }
    end_all();
    return status_;
  }

 private:
  void forward(int number) const {
    // Not yet waited for, so its number is not reused.
    if (!ended_ && kill(-process_, number) != 0) kill(process_, number);
  }

  /// False: there is no child any more.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t child = waitpid(-1, &status, WNOHANG);
      if (child < 0 && errno == EINTR) continue;
      if (child <= 0) return child == 0;
      if (child != process_) continue;
      ended_ = true;
      status_ = status;
    }
  }

  /// A child that was killed is heard of by SIGCHLD; the time is for those that appear in between.
  void pause() const {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    const timespec wait{0, look_every_ns};
    sigtimedwait(&child, nullptr, &wait);
  }

  /// Or a little less: each end of a descendant cuts one look short.
  void wait_for_process(long milliseconds) {
    for (long looks = milliseconds * 1'000'000 / look_every_ns; looks > 0 && reap() && !ended_; --looks)
      pause();
  }

  void end_all() {
    forward(SIGKILL);
    for (int in_vain = 0; in_vain < looks_in_vain_max;) {
      const bool any = reap();
      if (!any && group_.remove()) return;
      group_.kill();
      // Children may have gone to another group, and our group may have processes that are no children.
      if (!any || !kill_children()) ++in_vain;
      pause();
    }
  }

  const Order& order_;
  const pid_t process_;
  Group& group_;
  bool ended_ = false;
  int status_ = 1 << 8;  // Until it is known: never that of a success.
};

/// As the process did; without a second core dump.
[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    const int number = WTERMSIG(status);
    signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
    raise(number);
    _exit(128 + number);
  }
  _exit(WEXITSTATUS(status));
}

}  // namespace

int run(int argc, char** argv) {
  if (argc < 8) return 2;
  const Order order{atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), atol(argv[4]), strcmp(argv[5], "says") == 0,
                    argv[6],       argv + 7};
  // Before any signal can come: a warden that dies leaves others behind.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  signal(SIGCHLD, SIG_DFL);  // Ignored, it would take our children's statuses away.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGUSR2);
  if (getppid() != order.parent) return 1;
  const pid_t self = getpid();
  Group group(order.groups, self, Group::As::made);
  const pid_t process = group.fork_into();
  if (process == 0) become(order, self);
  if (process < 0) {
    say(order.report, Stage::no_process, errno);
    group.remove();
    return 126;
  }
  setpgid(process, process);  // The child does it, too: the first one counts.
  say(order.report, Stage::process, process);
  close(order.report);
  if (order.program >= 0) close(order.program);
  end_like(Watch(order, process, group).until_all_have_ended());
}

}  // namespace dag::warden_detail
