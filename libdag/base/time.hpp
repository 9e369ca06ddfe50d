#pragma once
// Time is an argument. Machines never read a clock: the driver (an actor, a simulation) passes `now`.

#include <chrono>
#include <string>

namespace dag {

using Duration = std::chrono::nanoseconds;

/// A point of the driver's monotonic clock (real or virtual). Not comparable between processes.
struct Instant {
  Duration since_start{0};
  auto operator<=>(const Instant&) const = default;
  friend Instant operator+(Instant a, Duration b) { return {a.since_start + b}; }
  friend Instant operator-(Instant a, Duration b) { return {a.since_start - b}; }
  friend Duration operator-(Instant a, Instant b) { return a.since_start - b.since_start; }
};

/// For people, with three digits: 1.5 ms, 12 s, 1 min 40 s; 0 s.
std::string text_of(Duration duration);

}  // namespace dag
