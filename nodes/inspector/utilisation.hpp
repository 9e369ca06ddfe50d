#pragma once
// Utilisation of the cluster's lanes during the last hour, as this node was told: so a page has a past to
// show when it is opened. Lanes count the time that they spend in kernels, and this divides it by the time
// that passed: samples of the running kernels would miss all that are shorter than the pause between
// samples.

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
  /// The interval of samples, and the number that is kept.
  static constexpr Duration every = std::chrono::seconds(5);
  static constexpr std::size_t kept = 720;

  // From any thread.
  /// `now` tells how much time has passed, and `unix_seconds` what a clock showed.
  void add(std::int64_t unix_seconds, Instant now, const std::vector<NodeInfo>& nodes);
  /// JSON in one line; oldest first. Where samples are further apart nothing is known.
  std::string json() const;

 private:
  /// The time that a node's lanes had spent in kernels, by its last report before `at`.
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
