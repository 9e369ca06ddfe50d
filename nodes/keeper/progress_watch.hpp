#pragma once
// Looks, with each heartbeat of a keeper, whether the node is late: in writing its log, in what its actors
// answer, in getting its turn. When that makes it sick, libdag/host/progress.hpp decides.

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "libdag/host/progress.hpp"

namespace dag {

struct ProgressPorts {
  std::function<Instant()> now;
  /// For how long the disk had done nothing of what waits for it, at most since the last look.
  std::function<Duration()> disk_lag;
  /// Sends a question to the keeper's actor and by that to the node's, which calls `heard`.
  std::function<void(std::function<void()> heard)> probe;
  /// It has become sick, or well; with what is late now.
  std::function<void(bool sick, const std::string& text)> changed;
};

class ProgressWatch {
 public:
  ProgressWatch(Duration late_after, ProgressPorts ports) : ports_(std::move(ports)), progress_(late_after) {}

  /// To be called about every `period`, not much later; on one thread. Whether the node is sick.
  bool look(Duration period);

 private:
  Duration actors_lag(Instant now);

  const ProgressPorts ports_;
  Progress progress_;
  std::optional<Instant> looked_at_;
  /// The question that is on its way: when it was sent; zero: it is back.
  std::atomic<std::int64_t> probe_sent_ns_{0};
  std::atomic<std::int64_t> probe_took_ns_{0};  ///< the longest since the last look
};

}  // namespace dag
