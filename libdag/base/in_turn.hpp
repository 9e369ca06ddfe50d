#pragma once
// Whose turn it is among those that want something all the time: none waits for more than one turn of each
// other.

#include <algorithm>

namespace dag {

/// The first of a map's entries after the key `last`, the circle round, of which `wants` holds; its end if
/// there is none. Whoever serves it remembers its key.
template <class Map, class Wants>
auto next_in_turn(Map& map, const typename Map::key_type& last, Wants&& wants) {
  const auto after = map.upper_bound(last);
  const auto behind = std::find_if(after, map.end(), wants);
  if (behind != map.end()) return behind;
  const auto before = std::find_if(map.begin(), after, wants);
  return before == after ? map.end() : before;
}

}  // namespace dag
