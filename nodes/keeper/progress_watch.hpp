#pragma once
// Looks, with each heartbeat of a keeper, whether the node is late: in writing its log, in its actors'
// answers, in getting its turn. libdag/host/progress.hpp decides when that makes the node sick.

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "libdag/host/progress.hpp"

namespace dag {

struct ProgressPorts {
  std::function<Instant()> now;
  /// The longest time since the last look in which the disk completed no waiting write.
  std::function<Duration()> disk_lag;
  /// Sends a question to the keeper's actor and through it to the node's, which calls `heard`.
  std::function<void(std::function<void()> heard)> probe;
  /// The node has become sick, or well; `text` names what is late now.
  std::function<void(bool sick, const std::string& text)> changed;
};

class ProgressWatch {
 public:
  ProgressWatch(Duration late_after, ProgressPorts ports) : ports_(std::move(ports)), progress_(late_after) {}

  /// Call about every `period`, not much later; on one thread. True: the node is sick.
  bool look(Duration period);

 private:
  Duration actors_lag(Instant now);

  const ProgressPorts ports_;
  Progress progress_;
  std::optional<Instant> looked_at_;
  /// When the question on its way was sent; zero: it is back.
  std::atomic<std::int64_t> probe_sent_ns_{0};
  std::atomic<std::int64_t> probe_took_ns_{0};  ///< the longest since the last look
};

}  // namespace dag
