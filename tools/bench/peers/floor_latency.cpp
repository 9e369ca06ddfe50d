// The floor of waking somebody: a thread that sleeps on a futex, and one that changes the word and wakes it.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tools/bench/peers/clock.hpp"
#include "tools/bench/peers/floor.hpp"

namespace dag::bench {
namespace {

void futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value) {
  static_assert(sizeof word == sizeof(std::uint32_t));
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), what, value, nullptr, nullptr, 0);
}

}  // namespace

Figures floor_latency(const Request& request) {
  const auto rounds =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(request.number("rounds", 1000) / 20, 5));
  std::vector<std::int64_t> samples;
  std::atomic<std::uint32_t> round_of_waker = 0, round_of_sleeper = 0;
  std::atomic<std::int64_t> woken_at_ns = 0;
  std::thread sleeper([&] {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      while (round_of_waker.load(std::memory_order_acquire) != round) {
        futex(round_of_waker, FUTEX_WAIT_PRIVATE, round - 1);
      }
      samples.push_back(now_ns() - woken_at_ns.load(std::memory_order_relaxed));
      round_of_sleeper.store(round, std::memory_order_release);
    }
  });
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    busy_until(now_ns() + 3'000'000);  // The other thread sleeps by now.
    woken_at_ns.store(now_ns(), std::memory_order_relaxed);
    round_of_waker.store(round, std::memory_order_release);
    futex(round_of_waker, FUTEX_WAKE_PRIVATE, 1);
    while (round_of_sleeper.load(std::memory_order_acquire) != round) {
    }
  }
  sleeper.join();
  Figures figures;
  add_percentiles(figures, "asleep", std::move(samples));
  return figures;
}

}  // namespace dag::bench
