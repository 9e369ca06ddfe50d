#pragma once
// Round robin: none of those that always want something waits for more than one turn of each
// other.

#include <algorithm>

namespace dag {

/// The first of a map's entries after the key `last`, around the circle, for which `wants` holds; the map's
/// end if there is none. The caller remembers the served key.
template <class Map, class Wants>
auto next_in_turn(Map& map, const typename Map::key_type& last, Wants&& wants) {
  const auto after = map.upper_bound(last);
  const auto behind = std::find_if(after, map.end(), wants);
  if (behind != map.end()) return behind;
  const auto before = std::find_if(map.begin(), after, wants);
  return before == after ? map.end() : before;
}

}  // namespace dag
