#pragma once
// A clock for durations of kernels that costs some nanoseconds to read: the processor's counter where it runs
// at one speed and does not stop, else the steady clock.

#include <chrono>
#include <cstdint>

#include "libdag/base/time.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace dag {

/// The steady clock: for times that are told to others.
inline Instant lane_now() { return {std::chrono::steady_clock::now().time_since_epoch()}; }

/// Ticks are compared and subtracted on one thread only. (A thread that moves to a processor whose counter is
/// behind may see time go back; such a span is zero.)
class TickClock {
 public:
  /// Measures the counter against the steady clock for a fraction of a millisecond: durations are right to
  /// about a permille, enough to predict and to show.
  TickClock();

  std::int64_t now() const {
#if defined(__x86_64__)
    if (by_counter_) return static_cast<std::int64_t>(__rdtsc());
#endif
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  Duration span(std::int64_t ticks) const {
    return ticks <= 0 ? Duration{0}
                      : Duration(static_cast<Duration::rep>(static_cast<double>(ticks) * scale_));
  }
  std::int64_t ticks(Duration span) const {
    return static_cast<std::int64_t>(static_cast<double>(span.count()) / scale_);
  }

 private:
  bool by_counter_ = false;
  double scale_ = 1;  ///< nanoseconds per tick
};

}  // namespace dag
