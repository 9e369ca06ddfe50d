#pragma once
// What waits for the lanes of this process, as those want to know it who give of it to idle ones.

#include <algorithm>

#include "actors/lanes/lanes_port.hpp"
#include "libdag/stealing/questions.hpp"

namespace dag {

inline std::vector<Duration> running_for(const LanesPort& lanes) {
  std::vector<Duration> running;
  for (const RunningNow& one : lanes.running_now()) running.push_back(one.ran);
  // What has to be alone keeps them all, and so does what waits until it is.
  if (lanes.stand_aside() && !running.empty() && running.size() < lanes.count())
    running.resize(lanes.count(), *std::min_element(running.begin(), running.end()));
  return running;
}

/// `mean_run` as in Waiting, of what has ended here.
inline Waiting waiting_for(const LanesPort& lanes, std::optional<Duration> mean_run) {
  // Those that stand aside have nothing to do, and take nothing.
  const std::uint32_t free = lanes.stand_aside() ? 0 : lanes.dry();
  Waiting waiting{static_cast<std::uint32_t>(lanes.queued()), static_cast<std::uint32_t>(lanes.count()), free,
                  mean_run};
  if (!mean_run || waiting.rows == 0) return waiting;
  return behind(waiting, running_for(lanes));
}

}  // namespace dag
