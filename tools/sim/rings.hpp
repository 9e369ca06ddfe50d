#pragma once
// Rings between simulated processes: which pairs share one, as each side sees it, and the news under way in
// them. In order within a ring; unwritten news is lost with its writer, unread news with its reader, and all
// news when either side gives the ring up. (libdag/ring; libdag/job/edge_news.hpp has the use of news by
// lanes.)

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libdag/base/random.hpp"
#include "libdag/job/edge_news.hpp"
#include "tools/sim/events.hpp"

namespace dag::sim {

class Rings {
 public:
  explicit Rings(std::uint64_t seed) : random_(seed * 17 + 5) {}

  /// Whether two processes ever share rings: of one host they are, or not.
  bool may_join(Life a, Life b) {
    const auto pair = std::minmax(a.process.value, b.process.value);
    return same_host_.try_emplace(pair, random_.chance(0.75)).first->second;
  }
  void join(Life self, Life peer) { joined_[self].insert(peer); }
  void part(Life self, Life peer) {
    joined_[self].erase(peer);
    given_up_.insert({self, peer});
  }
  bool given_up(Life self, Life peer) const { return given_up_.contains({self, peer}); }
  bool joined(Life self, Life peer) const {
    const auto found = joined_.find(self);
    return found != joined_.end() && found->second.contains(peer);
  }
  /// The processes that lanes of `self` can write to, itself included.
  std::vector<Life> reach(Life self) const {
    std::vector<Life> lives{self};
    if (const auto found = joined_.find(self); found != joined_.end()) {
      lives.insert(lives.end(), found->second.begin(), found->second.end());
    }
    return lives;
  }

  /// The time at which a news item written now will be read. None: the ring is full.
  std::optional<Instant> write(Life from, Life to, Instant now) {
    if (random_.chance(0.05)) return std::nullopt;
    // A lane in a long kernel has not flushed, or all lanes of the reader are in one.
    const Duration pause =
        std::chrono::microseconds(random_.chance(0.05) ? random_.below(20'000) : 1 + random_.below(50));
    Instant& last = last_[{from, to}];
    return last = std::max(last, now + pause);
  }
  bool chance(double share) { return random_.chance(share); }
  Duration soon() { return std::chrono::microseconds(random_.below(3000)); }

 private:
  Random random_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> same_host_;
  std::map<Life, std::set<Life>> joined_;
  std::set<std::pair<Life, Life>> given_up_;
  std::map<std::pair<Life, Life>, Instant> last_;
};

}  // namespace dag::sim
