#include "nodes/process/run_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <new>

#include "libdag/base/result.hpp"

namespace dag {
namespace {

/// True: the file has this length now. All processes extend it; the first one to do so does not matter.
/// Asking for more than the process may write (ulimit -f) would end it by a signal.
bool make_long(int file, std::size_t bytes) {
  rlimit limit{};
  const bool allowed = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
  if (!allowed || ftruncate(file, static_cast<off_t>(bytes)) != 0) return false;
  // A kernel that cuts the file off would end the whole run. If the launcher does not allow sealing, the file
  // stays unsealed.
  static_cast<void>(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
  return true;
}

/// A page begins as zeros, so pages of others need no initialization.
RunningPage* map_pages(int file, std::uint32_t count) {
  void* const memory = mmap(nullptr, count * sizeof(RunningPage), PROT_READ | PROT_WRITE,
                            file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
  if (memory == MAP_FAILED)
    throw Failure({ErrorCode::internal, "no memory to note what lanes run: " + std::string(strerror(errno))});
  return static_cast<RunningPage*>(memory);
}

}  // namespace

RunPages::RunPages(int file, std::uint32_t rank, std::uint32_t size)
    : rank_(rank),
      size_(size),
      shared_(file >= 0 && make_long(file, size * sizeof(RunningPage))),
      pages_(map_pages(shared_ ? file : -1, shared_ ? size : 1)) {
  note_faults(*new (&own()) RunningPage);
}

RunPages::~RunPages() { munmap(pages_, (shared_ ? size_ : 1) * sizeof(RunningPage)); }

LifeEnd RunPages::end_of(std::uint32_t rank) const {
  LifeEnd how;
  if (!shared_ || rank >= size_) return how;
  const RunningPage& page = pages_[rank];
  for (const RunningPage::Attempt& attempt : page.running())
    how.running.push_back({attempt.task, attempt.attempt, attempt.lane, 0});
  const auto fault = page.fault();
  how.end = fault ? ProcessEnd::faulted : ProcessEnd::killed;
  if (fault) how.guilty_lane = fault->lane;
  if (!fault) {
    how.what = "killed, or it left without a word";
  } else if (fault->signal == 0) {
    how.what = "exit() was called";
  } else {
    const char* const description = sigdescr_np(fault->signal);
    how.what =
        "signal " + std::to_string(fault->signal) + " (" + (description == nullptr ? "?" : description) + ")";
  }
  return how;
}

}  // namespace dag
