#pragma once
// Which processes do not hear which others for a while: each alone, on both ways or on one, or two halves.

#include <cstdint>
#include <string>
#include <vector>

#include "libdag/base/random.hpp"
#include "libdag/base/time.hpp"

namespace dag::sim {

class Cuts {
 public:
  explicit Cuts(std::uint32_t processes)
      : processes_(processes), until_(std::size_t{processes} * processes) {}

  bool hears(std::uint32_t to, std::uint32_t from, Instant now) const {
    return until_[std::size_t{from} * processes_ + to] <= now;
  }
  void isolate(std::uint32_t who, Instant until) {
    silence(who, until);
    deafen(who, until);
  }
  void silence(std::uint32_t who, Instant until) {
    for (std::uint32_t other = 0; other < processes_; ++other) cut(who, other, until);
  }
  void deafen(std::uint32_t who, Instant until) {
    for (std::uint32_t other = 0; other < processes_; ++other) cut(other, who, until);
  }
  /// Cuts all connections between two random sides.
  void split(std::uint32_t who, Random& random, Instant until) {
    std::vector<bool> with_it(processes_);
    for (std::uint32_t other = 0; other < processes_; ++other)
      with_it[other] = other == who || random.chance(0.5);
    for (std::uint32_t from = 0; from < processes_; ++from) {
      for (std::uint32_t to = 0; to < processes_; ++to) {
        if (with_it[from] != with_it[to]) cut(from, to, until);
      }
    }
  }
  /// In one of these ways, and its name.
  std::string draw(std::uint32_t who, Random& random, Instant until) {
    switch (random.below(4)) {
      case 0:
        silence(who, until);
        return "a replica was not heard";
      case 1:
        deafen(who, until);
        return "a replica heard nobody";
      case 2:
        split(who, random, until);
        return "replicas were parted";
      default:
        isolate(who, until);
        return "a replica was cut off";
    }
  }

 private:
  void cut(std::uint32_t from, std::uint32_t to, Instant until) {
    if (from != to) until_[std::size_t{from} * processes_ + to] = until;
  }

  std::uint32_t processes_;
  std::vector<Instant> until_;  ///< by sender, then receiver
};

}  // namespace dag::sim
