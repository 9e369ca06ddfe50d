#pragma once
// How busy the lanes of the cluster were during the last hour, as this node was told: so there is a past to
// see for who opens a page.

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "libdag/keeper/messages.hpp"

namespace dag::inspector {

class Utilisation {
 public:
  /// A sample is taken so often, and so many are kept.
  static constexpr Duration every = std::chrono::seconds(5);
  static constexpr std::size_t kept = 720;

  // From any thread.
  void add(std::int64_t unix_seconds, const std::vector<NodeInfo>& nodes);
  /// In one line; oldest first. Where samples are further apart nothing is known.
  std::string json() const;

 private:
  struct Sample {
    std::int64_t unix_seconds = 0;
    std::uint64_t busy = 0, all = 0;  ///< lanes, of nodes that are up
  };
  mutable std::mutex mutex_;
  std::deque<Sample> samples_;
};

}  // namespace dag::inspector
