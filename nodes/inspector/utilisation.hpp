#pragma once
// How busy the lanes of the cluster were during the last hour, as this node was told: so there is a past to
// see for who opens a page. Lanes count the time that they spend in kernels, and this divides it by the time
// that passed: a look at what runs in this moment would miss all kernels that are shorter than the pause
// between looks.

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "libdag/client/node_lanes.hpp"

namespace dag::inspector {

class Utilisation {
 public:
  /// A sample is taken so often, and so many are kept.
  static constexpr Duration every = std::chrono::seconds(5);
  static constexpr std::size_t kept = 720;

  // From any thread.
  /// `now` tells how much time has passed, and `unix_seconds` what a clock showed.
  void add(std::int64_t unix_seconds, Instant now, const std::vector<NodeInfo>& nodes);
  /// In one line; oldest first. Where samples are further apart nothing is known.
  std::string json() const;

 private:
  /// The time that a node's lanes had been inside of kernels, as the node had said by then.
  struct Said {
    Instant at;
    Duration busy{0};
  };
  struct Sample {
    std::int64_t unix_seconds = 0;
    double busy = 0;  ///< lanes, as a mean since the sample before, of nodes that are up
    std::uint64_t all = 0;
  };
  double lanes_busy(Life node, const detail::NodeLanes& lanes, Instant now) const;

  mutable std::mutex mutex_;
  std::map<Life, Said> said_;  ///< by the nodes that were up at the last sample
  std::deque<Sample> samples_;
};

}  // namespace dag::inspector
