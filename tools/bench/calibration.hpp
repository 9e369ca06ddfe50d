#pragma once
// Tasks that last a given time are made of a number of iterations, not of looking at a clock: a task that was
// interrupted must not count as having computed.

#include <chrono>
#include <cstdint>

namespace dag::bench {

class Settings;

/// One thread's best on this machine.
struct Calibration {
  double seconds_per_iteration = 0;
  std::uint64_t iterations_for(std::chrono::duration<double> length) const;
};
Calibration calibrate(Settings& settings);

}  // namespace dag::bench
