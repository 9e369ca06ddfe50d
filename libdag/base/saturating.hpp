#pragma once
// Sums of times and durations that people give. A duration may have any length, and the longest means for
// ever; so a sum saturates instead of overflowing.

#include <cstdint>

#include "libdag/base/time.hpp"

namespace dag {

/// Durations from here on, 146 years, limit nothing: such a wait is for ever.
inline constexpr Duration for_ever = Duration(Duration::rep{1} << 62);
constexpr bool is_for_ever(Duration limit) { return limit >= for_ever; }

/// a + b; a sum that does not fit saturates in its direction.
constexpr Duration sum(Duration a, Duration b) {
  Duration::rep result = 0;
  if (!__builtin_add_overflow(a.count(), b.count(), &result)) return Duration(result);
  return a < Duration{0} ? Duration::min() : Duration::max();
}

/// Saturates likewise.
constexpr Duration times(Duration duration, std::uint64_t factor) {
  Duration::rep result = 0;
  if (!__builtin_mul_overflow(duration.count(), factor, &result)) return Duration(result);
  return duration < Duration{0} ? Duration::min() : Duration::max();
}

/// The instant `by` after `at`.
constexpr Instant later(Instant at, Duration by) { return {sum(at.since_start, by)}; }

/// For a number that was computed or that people give.
constexpr Duration nanoseconds_of(double count) {
  if (!(count < static_cast<double>(Duration::max().count()))) return Duration::max();
  if (!(count > static_cast<double>(Duration::min().count()))) return Duration::min();
  return Duration(static_cast<Duration::rep>(count));
}
constexpr Duration seconds_of(double count) { return nanoseconds_of(count * 1e9); }

}  // namespace dag
