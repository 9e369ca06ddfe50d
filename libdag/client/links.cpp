#include "libdag/client/links.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace dag::detail {

std::vector<NodeLink> links_between(const std::map<ProcessId, std::vector<NodeInfo>>& said) {
  std::set<ProcessId> there;
  for (const auto& [from, nodes] : said) {
    for (const NodeInfo& node : nodes) {
      if (is_up(node.state)) there.insert(node.life.process);
    }
  }
  std::vector<NodeLink> links;
  for (const auto& [from, nodes] : said) {
    std::map<ProcessId, const NodeInfo*> known;
    for (const NodeInfo& node : nodes) {
      if (is_up(node.state)) known[node.life.process] = &node;
    }
    for (const ProcessId to : there) {
      if (to == from) continue;
      NodeLink link{from, to, std::nullopt, false};
      if (const auto found = known.find(to); found != known.end()) {
        link.heard = found->second->heard;
        link.suspect = found->second->state == MemberState::suspect;
      }
      links.push_back(link);
    }
  }
  const auto trouble = [](const NodeLink& link) {
    const HeardOf heard = link.heard.value_or(HeardOf{});
    return std::tuple(!link.heard, link.suspect, link.in_trouble() ? heard.ago : Duration{0},
                      heard.round_trip);
  };
  std::stable_sort(links.begin(), links.end(),
                   [&](const NodeLink& a, const NodeLink& b) { return trouble(b) < trouble(a); });
  return links;
}

}  // namespace dag::detail
