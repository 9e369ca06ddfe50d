#include "nodes/workers/worker_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "libdag/base/saturating.hpp"
#include "nodes/machine/clock.hpp"

namespace dag {

RunningPage* WorkerPages::make(Life life, int& file) {
  file = memfd_create("dag-running", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* memory = MAP_FAILED;
  // The process runs kernels of users: cutting the page off would take the node along.
  if (file >= 0 && ftruncate(file, sizeof(RunningPage)) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    memory = mmap(nullptr, sizeof(RunningPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    const int problem = errno;
    if (file >= 0) close(file);
    errno = problem;
    return nullptr;
  }
  auto* page = new (memory) RunningPage;
  const std::lock_guard lock(mutex_);
  pages_[life] = {file, page, steady_now()};
  return page;
}

void WorkerPages::take_back(Life life) {
  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(life);
  if (found == pages_.end()) return;
  of_ended_ += found->second.page->totals();
  munmap(found->second.page, sizeof(RunningPage));
  close(found->second.file);
  pages_.erase(found);
}

/// Checks the start time in a page: a process that runs kernels wrote it.
Duration WorkerPages::ran_since(std::int64_t began) const {
  const std::int64_t now = clock_.now();
  return began <= 0 || began > now ? Duration{0} : clock_.span(now - began);
}

WorkersNow WorkerPages::now(std::size_t lanes_each) const {
  const std::lock_guard lock(mutex_);
  const Instant at = steady_now();
  WorkersNow now;
  for (const auto& [life, page] : pages_) {
    ++now.processes;
    const std::vector<RunningPage::Attempt> running = page.page->running();
    now.lanes_running += static_cast<std::uint32_t>(running.size());
    now.queued += page.page->queued();
    now.lane_time += (at - page.since) * static_cast<Duration::rep>(lanes_each);
    for (const Duration busy : page.page->totals().busy) now.busy = sum(now.busy, busy);
    for (const RunningPage::Attempt& attempt : running) now.busy = sum(now.busy, ran_since(attempt.began));
  }
  now.busy_ever = now.busy;
  for (const Duration busy : of_ended_.busy) now.busy_ever = sum(now.busy_ever, busy);
  return now;
}

RunTotals WorkerPages::ran() const {
  const std::lock_guard lock(mutex_);
  RunTotals run = of_ended_;
  for (const auto& [life, page] : pages_) run += page.page->totals();
  return run;
}

}  // namespace dag
