#include "libdag/home/lane_ways.hpp"

#include <algorithm>
#include <utility>

#include "libdag/base/check.hpp"

namespace dag {

void LaneWays::set_reach(std::vector<Life> lives, bool others_by_link) {
  reach_ = std::move(lives);
  others_by_link_ = others_by_link;
  std::sort(reach_.begin(), reach_.end());
}

Way LaneWays::to(Life home) const {
  if (std::binary_search(reach_.begin(), reach_.end(), home)) return Way::memory;
  return others_by_link_ && message::is_alive(state_, home) ? Way::link : Way::closed;
}

LaneWays::Change LaneWays::change(const std::vector<Route>& before) const {
  Change change;
  for (std::uint32_t shard = 0; shard < before.size(); ++shard) {
    const message::ShardHome& there = state_.homes[shard];
    const Route& had = before[shard];
    const Way way = shard == own_shard_ ? Way::closed : to(there.home);
    change.routes.push_back({there.home, there.epoch, way});
    // A link delivers news sent before a ring came. Unread news in a ring that is given up is lost.
    const bool delivers = way == had.way || (had.way == Way::link && way == Way::memory);
    const bool lost = had.way != Way::closed && (!delivers || had.epoch != there.epoch);
    change.lost.push_back(lost);
    change.any_lost = change.any_lost || lost;
  }
  return change;
}

void LaneWays::check_invariants() const { DAG_CHECK(std::is_sorted(reach_.begin(), reach_.end())); }

}  // namespace dag
