#pragma once
// The rows queued for this process's lanes. Answers to thieves are based on it.

#include <algorithm>

#include "actors/lanes/lanes_port.hpp"
#include "libdag/stealing/questions.hpp"

namespace dag {

inline std::vector<Duration> running_for(const LanesPort& lanes) {
  std::vector<Duration> running;
  for (const RunningNow& one : lanes.running_now()) running.push_back(one.ran);
  // An attempt that runs alone, or waits until it can, occupies all lanes.
  if (lanes.stand_aside() && !running.empty() && running.size() < lanes.count())
    running.resize(lanes.count(), *std::min_element(running.begin(), running.end()));
  return running;
}

/// `mean_run` as in Waiting: the mean of the attempts that ended here.
inline Waiting waiting_for(const LanesPort& lanes, std::optional<Duration> mean_run) {
  // Lanes that stand aside are idle, and take no work.
  const std::uint32_t free = lanes.stand_aside() ? 0 : lanes.dry();
  Waiting waiting{static_cast<std::uint32_t>(lanes.queued()), static_cast<std::uint32_t>(lanes.count()), free,
                  mean_run};
  if (!mean_run || waiting.rows == 0) return waiting;
  return behind(waiting, running_for(lanes));
}

}  // namespace dag
