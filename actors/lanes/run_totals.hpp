#pragma once
// Totals of the attempts that lanes have run since they began, for monitoring: numbers that only grow. A
// kernel may have written over the page that they come from, so no sum of times runs over.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libdag/base/saturating.hpp"
#include "libdag/base/time.hpp"

namespace dag {

struct RunTotals {
  /// Attempts are counted by duration: at most this bound, and more than the bound before. The last count is
  /// of attempts longer than all bounds.
  static constexpr std::array<Duration, 10> bounds{
      std::chrono::microseconds(1), std::chrono::microseconds(10), std::chrono::microseconds(100),
      std::chrono::milliseconds(1), std::chrono::milliseconds(10), std::chrono::milliseconds(100),
      std::chrono::seconds(1),      std::chrono::seconds(10),      std::chrono::seconds(100),
      std::chrono::seconds(1000)};
  static constexpr std::size_t bucket_of(Duration ran) {
    std::size_t bucket = 0;
    while (bucket < bounds.size() && ran > bounds[bucket]) ++bucket;
    return bucket;
  }

  std::array<std::uint64_t, bounds.size() + 1> by_duration{};
  std::uint64_t failed = 0;  ///< of the attempts
  std::uint64_t stolen = 0;  ///< rows that a lane took from another one of its process
  /// Tasks that idle processes took from its processes: idle ones of this host, and of others.
  std::uint64_t stolen_host = 0, stolen_cluster = 0;
  std::vector<Duration> busy;  ///< of each lane: inside of kernels
  /// The time that attempts waited for a reason.
  struct Waits {
    std::uint64_t count = 0;
    Duration total{0};
    Waits& operator+=(const Waits& more) {
      count += more.count;
      total = sum(total, more.total);
      return *this;
    }
  };
  Waits queue;                       ///< for a lane, all attempts that ended: many waited for no time
  Waits transfer;                    ///< for inputs that lay in other processes
  std::uint64_t transfer_bytes = 0;  ///< of the transfers
  Waits retry;                       ///< pauses before a next try
  Waits placement;                   ///< choices of a process for an attempt, and how long they took

  RunTotals& operator+=(const RunTotals& more) {
    for (std::size_t i = 0; i < by_duration.size(); ++i) by_duration[i] += more.by_duration[i];
    failed += more.failed;
    stolen += more.stolen;
    stolen_host += more.stolen_host;
    stolen_cluster += more.stolen_cluster;
    queue += more.queue;
    transfer += more.transfer;
    transfer_bytes += more.transfer_bytes;
    retry += more.retry;
    placement += more.placement;
    if (busy.size() < more.busy.size()) busy.resize(more.busy.size());
    for (std::size_t i = 0; i < more.busy.size(); ++i) busy[i] = sum(busy[i], more.busy[i]);
    return *this;
  }
};

}  // namespace dag
