#include "tools/sim/work_conservation.hpp"

#include <algorithm>

namespace dag::sim {

std::optional<std::string> WorkConservation::look(Instant now, const std::vector<WaitingWork>& waiting,
                                                  const std::vector<FreeLane>& free) {
  std::map<Key, Instant> still;
  for (const WaitingWork& work : waiting) {
    const Key key{work.at, work.job, work.task, work.attempt};
    const auto before = waiting_since_.find(key);
    const Instant since = before == waiting_since_.end() ? now : before->second;
    still[key] = since;
    for (const FreeLane& lane : free) {
      if (lane.job != work.job || (work.stays && lane.at != work.at) || lane.at == work.not_at) continue;
      if (now - std::max({since, lane.since, quiet_since_}) < work_waits_max) continue;
      return to_string(work.task) + to_string(work.attempt) + " waits at " + to_string(work.at) +
             ", and a lane of " + to_string(lane.at) + " has had nothing to do for as long";
    }
  }
  waiting_since_ = std::move(still);
  return std::nullopt;
}

}  // namespace dag::sim
