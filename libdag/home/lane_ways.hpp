#pragma once
// The ways by which lanes here tell the lanes of other shards that rows have ended (edge_news.hpp), and which
// news of theirs is lost when a way changes. Homes tell each other the rest, more slowly.

#include <cstdint>
#include <vector>

#include "libdag/job/messages.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

class LaneWays {
 public:
  LaneWays(const message::JobState& state, std::uint32_t own_shard) : state_(state), own_shard_(own_shard) {}

  /// Lanes can tell these lives through memory; all others that are alive by a link, if `others_by_link`.
  void set_reach(std::vector<Life> lives, bool others_by_link);
  Way to(Life home) const;

  struct Change {
    std::vector<Route> routes;  ///< per shard, as lanes must have them now
    /// Per shard: lanes may have told it what it will never read.
    std::vector<bool> lost;
    bool any_lost = false;
  };
  /// From the routes that lanes have had, to those that the state and the reach allow.
  Change change(const std::vector<Route>& before) const;

  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  const message::JobState& state_;
  const std::uint32_t own_shard_;
  std::vector<Life> reach_;  ///< sorted
  bool others_by_link_ = false;
};

}  // namespace dag
