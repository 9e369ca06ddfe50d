// Under TSan too: a lane's own data is used by it and by its visitors, and nothing else orders them.

#include "actors/lanes/kernel_turn.hpp"

#include <catch2/catch.hpp>

#include <utility>

TEST_CASE("a lane and who visits it inside of kernels are never at its things at once") {
  const bool asymmetric = GENERATE(true, false);
  if (asymmetric && !dag::process_barrier_allowed) return;
  dag::KernelTurn turn(asymmetric);
  std::atomic<bool> over{false};
  std::uint64_t kept = 0, taken = 0;
  std::thread lane([&] {
    for (int kernel = 0; kernel < 200'000; ++kernel) {
      ++kept;
      turn.begin();
      if (kernel % 1000 == 0) std::this_thread::yield();
      turn.end();
      ++kept;
    }
    over.store(true);
  });
  std::uint64_t visited = 0;
  while (!over.load()) {
    const std::uint64_t kernel = turn.number();
    if (kernel == visited) continue;  // A visitor without pause keeps the lane.
    turn.visit_if_inside(kernel, [&] { taken += std::exchange(kept, 0); });
    visited = kernel;
  }
  lane.join();
  CHECK(taken + kept == 400'000);
}

TEST_CASE("nobody visits a lane that is outside, or in another kernel than the one that was seen") {
  dag::KernelTurn turn;
  CHECK_FALSE(turn.visit_if_inside(turn.number(), [] { FAIL("it is outside"); }));
  turn.begin();
  const std::uint64_t first = turn.number();
  CHECK(turn.visit_if_inside(first, [] {}));
  turn.end();
  turn.begin();
  CHECK_FALSE(turn.visit_if_inside(first, [] { FAIL("that kernel is over"); }));
  turn.end();
}
