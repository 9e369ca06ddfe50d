#pragma once
// Reads a node's log at the node's start: takes the segments one after the other and finds the end of the
// log, or that something is lost. Every start is like this: a clean end of the process leaves the same files
// as a crash.

#include <functional>
#include <optional>

#include "libdag/log/format.hpp"

namespace dag::log {

class Recovery {
 public:
  /// To be called for all segments, in order of number, each whole and with its head. log_damaged: a record
  /// that was on the disk is lost, in this segment or between it and the last one. The visited records are
  /// good, and no later bytes may be used; other replicas have the rest.
  Status take(const SegmentHead& head, std::span<const std::byte> segment,
              const std::function<void(const Record&)>& visit);

  /// Where the log goes on; Position{} without segments.
  const Position& end() const { return at_; }
  /// True: bytes behind `end` in that segment must be wiped first (Scan).
  bool remains() const { return remains_; }

 private:
  std::optional<SegmentHead> last_;
  Position at_;
  bool remains_ = false;
};

}  // namespace dag::log
