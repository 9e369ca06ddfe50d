#pragma once
// The length of a task is a number of iterations, not a time read from a clock: a task that was interrupted
// must not count as having computed.

#include <chrono>
#include <cstdint>

namespace dag::bench {

class Settings;

/// The best speed of a single thread on this machine.
struct Calibration {
  double seconds_per_iteration = 0;
  std::uint64_t iterations_for(std::chrono::duration<double> length) const;
};
Calibration calibrate(Settings& settings);

}  // namespace dag::bench
