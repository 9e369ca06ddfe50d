#include "libdag/client/checked_output.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "libdag/client/exit_status.hpp"

namespace dag {
namespace {

/// The reason of an earlier failed write, whose errno was not kept.
std::string reason_of_earlier() {
  pollfd state{STDOUT_FILENO, POLLOUT, 0};
  if (poll(&state, 1, 0) == 1 && (state.revents & POLLNVAL) != 0) return std::strerror(EBADF);
  if ((state.revents & POLLERR) != 0) return std::strerror(EPIPE);
  return "the disk was full, or failed";
}

}  // namespace

void heed_closed_pipes() {
  // A handler, and not SIG_IGN: exec resets handlers, but inherits ignored signals.
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &nothing, nullptr);
}

int checked_output(std::string_view program, int status) {
  const bool failed_before = !std::cout || std::ferror(stdout) != 0;
  errno = 0;
  std::cout.flush();
  const bool is_flushed = std::fflush(stdout) == 0 && std::cout.good();
  if (!failed_before && is_flushed) return status;
  const std::string reason = is_flushed || errno == 0 ? reason_of_earlier() : std::strerror(errno);
  std::cerr << program << ": not all output could be written: " << reason << '\n';
  return status == exit_ok ? exit_work_failed : status;
}

Error not_written(const std::string& file, int problem) {
  const std::string what = "cannot write " + file + ": " + std::strerror(problem);
  if (problem == ENOSPC || problem == EDQUOT || problem == EFBIG || problem == EIO)
    return {ErrorCode::disk_full, what};
  return {ErrorCode::usage, what, "name a file in an existing directory that you can write"};
}

}  // namespace dag
