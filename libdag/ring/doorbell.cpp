#include "libdag/ring/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <new>

namespace dag::ring {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

constexpr std::uint64_t kind_of_doorbell = 0x0002'6c6c'6562'6764;  // "dgbell", version 2
static_assert(alignof(BellWords) <= SharedMemory::content_offset);

Preamble preamble_of(std::uint64_t nonce) { return {kind_of_doorbell, nonce, sizeof(BellWords)}; }

// Without FUTEX_PRIVATE_FLAG: the word is known by its memory, not by an address of one process.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

}  // namespace

bool sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t expected, Duration timeout) {
  timeout = std::max(timeout, Duration(0));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  timespec relative{};
  relative.tv_sec = seconds.count();
  relative.tv_nsec = (timeout - seconds).count();
  return futex(word, FUTEX_WAIT, expected, &relative) == 0 || errno != EAGAIN;
}

void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) {
  futex(word, FUTEX_WAKE, std::min(count, static_cast<std::uint32_t>(INT_MAX)), nullptr);
}

Result<Doorbell> Doorbell::create(std::uint64_t nonce) {
  Result<SharedMemory> memory = SharedMemory::create(preamble_of(nonce));
  if (!memory) return memory.error();
  new (memory->content()) BellWords;
  return Doorbell(std::move(*memory), nonce);
}

Result<Doorbell> Doorbell::open(std::int32_t process, std::int32_t file, std::uint64_t nonce) {
  Result<SharedMemory> memory = SharedMemory::open(process, file, preamble_of(nonce));
  if (!memory) return memory.error();
  return Doorbell(std::move(*memory), nonce);
}

}  // namespace dag::ring
