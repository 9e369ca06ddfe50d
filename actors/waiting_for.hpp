#pragma once
// What waits for the lanes of this process, as those want to know it who give of it to idle ones.

#include "actors/lanes/lanes_port.hpp"
#include "libdag/stealing/questions.hpp"

namespace dag {

/// `mean_run` as in Waiting.
inline Waiting waiting_for(const LanesPort& lanes, std::optional<Duration> mean_run) {
  return {static_cast<std::uint32_t>(lanes.queued()), static_cast<std::uint32_t>(lanes.count()), lanes.dry(),
          mean_run};
}

}  // namespace dag
