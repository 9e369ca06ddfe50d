#include "nodes/run_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <new>

#include "libdag/base/result.hpp"

namespace dag {
namespace {

/// A page is all zero until somebody notes something, so pages of others need no beginning.
RunningPage* map_pages(int file, std::uint32_t count) {
  const std::size_t bytes = count * sizeof(RunningPage);
  const bool shared = file >= 0;
  // All make it as long, so it does not matter who is the first.
  const bool long_enough = !shared || ftruncate(file, static_cast<off_t>(bytes)) == 0;
  void* const memory = long_enough ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                          shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0)
                                   : MAP_FAILED;
  if (memory == MAP_FAILED) {
    throw Failure(
        {ErrorCode::internal, "there is no memory to note what lanes run: " + std::string(strerror(errno))});
  }
  return static_cast<RunningPage*>(memory);
}

}  // namespace

RunPages::RunPages(int file, std::uint32_t rank, std::uint32_t size)
    : rank_(rank), size_(size), shared_(file >= 0), pages_(map_pages(file, shared_ ? size : 1)) {
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
