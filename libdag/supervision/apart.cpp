#include "libdag/supervision/apart.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "libdag/base/check.hpp"

namespace dag {
std::vector<Life> who_goes(std::vector<Apart> apart, Life leader) {
  std::vector<Life> gone;
  while (!apart.empty()) {
    std::map<Life, std::set<Life>> others, accusers;
    for (const Apart& pair : apart) {
      accusers[pair.silent].insert(pair.who);
      others[pair.who].insert(pair.silent);
      others[pair.silent].insert(pair.who);
    }
    const auto weight = [&](const auto& one) {
      // A process that the leader does not hear cannot be told anything of the job.
      const bool unheard = one.second.contains(leader);
      return std::tuple(one.first != leader, unheard, one.second.size(), accusers[one.first].size(),
                        node_of(one.first.process) != node_of(leader.process), one.first);
    };
    const auto next = std::max_element(others.begin(), others.end(),
                                       [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
    const Life goes = next->first;
    DAG_CHECK(goes != leader);
    gone.push_back(goes);
    std::erase_if(apart, [&](const Apart& pair) { return pair.who == goes || pair.silent == goes; });
  }
  return gone;
}

}  // namespace dag
