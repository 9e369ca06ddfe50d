#pragma once
// What a log says when its node starts again: takes the segments one after the other and finds where it ends,
// or that something is lost. There is no other start: a clean end of the process leaves the same files as a
// crash.

#include <functional>
#include <optional>

#include "libdag/log/format.hpp"

namespace dag::log {

class Recovery {
 public:
  /// In the order of their numbers, each whole, with its head. log_damaged: a record that was on the disk is
  /// lost, in this segment or between it and the last one; those that were visited are good, and nothing
  /// behind them may be used. Who has other replicas gets the rest from there.
  Status take(const SegmentHead& head, std::span<const std::byte> segment,
              const std::function<void(const Record&)>& visit);

  /// Where the log goes on; Position{} when there was no segment.
  const Position& end() const { return at_; }
  /// What lies in that segment behind `end` has to be wiped first (Scan).
  bool remains() const { return remains_; }

 private:
  std::optional<SegmentHead> last_;
  Position at_;
  bool remains_ = false;
};

}  // namespace dag::log
