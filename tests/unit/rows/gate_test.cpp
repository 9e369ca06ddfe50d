// The gate against real threads: while it is closed nobody is inside. What it guards here are plain
// variables, so TSan sees whether the order holds.
#include "libdag/rows/gate.hpp"

#include <catch2/catch.hpp>
#include <thread>

TEST_CASE("nobody is inside a closed gate, with and without a process barrier") {
  const bool asymmetric = GENERATE(false, true);
  if (asymmetric && !dag::process_barrier_allowed) return;
  constexpr std::size_t lanes = 3;
  constexpr int closings = 300;
  dag::Gate gate(lanes, asymmetric);
  struct alignas(64) Guarded {
    std::uint64_t first = 0, second = 0;  // Equal whenever nobody is inside.
  };
  Guarded guarded[lanes];
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> refused{0}, passed{0};
  std::vector<std::thread> threads;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&, lane] {
      while (!stop.load(std::memory_order_relaxed)) {
        if (!gate.enter(lane)) {
          refused.fetch_add(1, std::memory_order_relaxed);
          std::this_thread::yield();
          continue;
        }
        ++guarded[lane].first;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        ++guarded[lane].second;
        gate.leave(lane);
        passed.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  std::uint64_t torn = 0;
  for (int i = 0; i < closings; ++i) {
    const std::uint64_t before = passed.load();
    while (passed.load() == before) std::this_thread::yield();
    gate.close([] { std::this_thread::yield(); });
    for (Guarded& each : guarded) {
      if (each.first != each.second) ++torn;
      each = {each.first + 1000, each.second + 1000};  // A lane that is inside would write in between.
    }
    for (const Guarded& each : guarded) torn += each.first != each.second ? 1 : 0;
    gate.open();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(torn == 0);
  for (const Guarded& each : guarded) CHECK(each.first == each.second);
}
