#include "tools/bench/calibration.hpp"

#include <algorithm>

#include "tools/bench/commands.hpp"

namespace dag::bench {

std::uint64_t Calibration::iterations_for(std::chrono::duration<double> length) const {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(length.count() / seconds_per_iteration));
}

Calibration calibrate(Settings& settings) {
  settings.say("how long a task of so many iterations lasts");
  return {ask(floor_runner, {"rate", {}}).number("seconds_per_iteration")};
}

}  // namespace dag::bench
