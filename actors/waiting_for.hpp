#pragma once
// What waits for the lanes of this process, as those want to know it who give of it to idle ones.

#include <algorithm>

#include "actors/lanes/lanes_port.hpp"
#include "libdag/stealing/questions.hpp"

namespace dag {

/// `mean_run` as in Waiting. When each lane has been at its task for longer than that, what waits behind them
/// does so for as long again, as far as anybody knows: rows behind a straggler are worth lending, however
/// short they are.
inline Waiting waiting_for(const LanesPort& lanes, std::optional<Duration> mean_run) {
  Waiting waiting{static_cast<std::uint32_t>(lanes.queued()), static_cast<std::uint32_t>(lanes.count()),
                  lanes.dry(), mean_run};
  if (!mean_run || waiting.rows == 0) return waiting;
  const std::vector<RunningNow> running = lanes.running_now();
  if (running.size() < lanes.count()) return waiting;
  const auto newest = std::min_element(
      running.begin(), running.end(), [](const RunningNow& a, const RunningNow& b) { return a.ran < b.ran; });
  if (newest != running.end()) waiting.mean_run = std::max(*mean_run, newest->ran);
  return waiting;
}

}  // namespace dag
