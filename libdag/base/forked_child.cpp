#include "libdag/base/forked_child.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace dag {
namespace {

/// Holds 1 in the process that made it; the kernel gives a forked child a page of zeros instead.
volatile char* make_mark() {
  void* const page = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, 1, MADV_WIPEONFORK) == 0) return static_cast<volatile char*>(page);
  munmap(page, 1);
  return nullptr;
}

std::atomic<volatile char*> mark{nullptr};

}  // namespace

void begin_running_kernels() {
  static volatile char* const made = make_mark();
  if (made == nullptr) return;
  *made = 1;
  mark.store(made, std::memory_order_release);
}

bool in_forked_child() {
  const volatile char* const now = mark.load(std::memory_order_relaxed);
  return now != nullptr && *now == 0;
}

void end_forked_child() {
  if (in_forked_child()) _exit(EXIT_FAILURE);
}

}  // namespace dag
