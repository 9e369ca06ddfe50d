#pragma once
// Times that processes of one host can compare, and the percentiles of their samples.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "tools/bench/peers/peer.hpp"

namespace dag::bench {

/// The host's monotonic clock.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Keeps the core busy until then: a kernel that lasts.
inline void busy_until(std::int64_t end_ns) {
  while (now_ns() < end_ns) {
  }
}

/// Samples in nanoseconds as `name.p50`, `name.p99` in seconds, and `name.samples`.
inline void add_percentiles(Figures& figures, const std::string& name, std::vector<std::int64_t> samples) {
  if (samples.empty()) throw std::runtime_error("no samples of " + name);
  std::sort(samples.begin(), samples.end());
  const auto at = [&](std::size_t percent) {
    return static_cast<double>(samples[(samples.size() - 1) * percent / 100]) * 1e-9;
  };
  figures.numbers[name + ".p50"] = at(50);
  figures.numbers[name + ".p99"] = at(99);
  figures.numbers[name + ".samples"] = static_cast<double>(samples.size());
}

}  // namespace dag::bench
