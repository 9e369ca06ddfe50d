#include "actors/lanes/tick_clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dag {
namespace {

#if defined(__x86_64__)
/// "Invariant TSC": one speed in all states of power and sleep.
bool counter_is_constant() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}
#endif

}  // namespace

TickClock::TickClock() {
#if defined(__x86_64__)
  using Steady = std::chrono::steady_clock;
  constexpr Duration measured = std::chrono::microseconds(200);
  if (!counter_is_constant()) return;
  const auto begin = Steady::now();
  const auto first = static_cast<std::int64_t>(__rdtsc());
  auto end = begin;
  std::int64_t last = first;
  while (end - begin < measured) {
    end = Steady::now();
    last = static_cast<std::int64_t>(__rdtsc());
  }
  if (last <= first) return;
  scale_ = static_cast<double>(Duration(end - begin).count()) / static_cast<double>(last - first);
  by_counter_ = true;
#endif
}

}  // namespace dag
