#include "libdag/warden/started_with.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dag {
namespace {

/// A missing descriptor would be the number of the next opened file, and text for a person would be written
/// there.
void fill_standard_files() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file) {
    if (fcntl(file, F_GETFD) >= 0) continue;
    // The lowest that is free, so `file`.
    if (open("/dev/null", file == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0) return;
  }
}

/// The soft limit is for programs that use select(); we do not.
void raise_limit_of_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

void stop_ignoring(int number) {
  struct sigaction action {};
  if (sigaction(number, nullptr, &action) != 0) return;
  const bool drops_statuses = number == SIGCHLD && (action.sa_flags & SA_NOCLDWAIT) != 0;
  const bool ignored = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
  if (ignored) {
    signal(number, SIG_DFL);
  } else if (drops_statuses) {
    action.sa_flags &= ~SA_NOCLDWAIT;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace

void put_right_what_we_were_started_with() {
  fill_standard_files();
  raise_limit_of_files();
  for (int number = 1; number < NSIG; ++number) {
    if (number != SIGHUP && number != SIGXFSZ) stop_ignoring(number);
  }
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void put_right_for_kernels() {
  fill_standard_files();
  raise_limit_of_files();
  stop_ignoring(SIGCHLD);
  sigset_t needed;
  sigemptyset(&needed);
  for (const int number : {SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaddset(&needed, number);
  pthread_sigmask(SIG_UNBLOCK, &needed, nullptr);
}

void close_files_of_starter() { syscall(SYS_close_range, 3, ~0U, 0); }

}  // namespace dag
