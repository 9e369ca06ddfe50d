#pragma once
// Outputs that no task reads any more, and that stay for a while all the same: released ones, as long as
// there is room, for a client that asks late; and those that were made again, for some time after the last
// question.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "libdag/base/check.hpp"
#include "libdag/base/time.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

class StayingOutputs {
 public:
  /// Number of outputs that stay, whatever their size.
  static constexpr std::size_t released_max = 4096;
  /// An output that was made again stays this long after it was last asked for.
  static constexpr Duration made_again_for = std::chrono::seconds(10);

  /// `room_bytes`: the sum of sizes of released outputs.
  explicit StayingOutputs(std::uint64_t room_bytes) : room_bytes_(room_bytes) {}

  // ---- Released ones
  bool has_room_for(std::uint64_t size_bytes) const { return size_bytes <= room_bytes_; }
  void add_released(RowIndex row, std::uint64_t size_bytes) {
    released_.emplace_back(row, size_bytes);
    released_bytes_ += size_bytes;
  }
  /// The one that has stayed for longest, if there is no room for all; no_row: there is. The row may be
  /// needed again by now: the home knows.
  RowIndex take_too_much() {
    if (released_bytes_ <= room_bytes_ && released_.size() <= released_max) return no_row;
    const auto [row, size_bytes] = released_.front();
    released_.pop_front();
    released_bytes_ -= size_bytes;
    return row;
  }

  // ---- Those that were made again after they were let go
  void asked_for(RowIndex row, Instant now) { until_[row] = now + made_again_for; }
  /// Rows whose time is over.
  std::vector<RowIndex> take_due(Instant now) {
    std::vector<RowIndex> due;
    std::erase_if(until_, [&](const auto& one) {
      if (one.second > now) return false;
      due.push_back(one.first);
      return true;
    });
    return due;
  }
  std::optional<Instant> wake_at() const {
    std::optional<Instant> at;
    for (const auto& [row, until] : until_) at = at ? std::min(*at, until) : until;
    return at;
  }

  /// After an event. Throws Bug when a rule is broken.
  void check_invariants() const {
    std::uint64_t bytes = 0;
    for (const auto& [row, size_bytes] : released_) bytes += size_bytes;
    DAG_CHECK(bytes == released_bytes_);
    DAG_CHECK(released_bytes_ <= room_bytes_ && released_.size() <= released_max);
  }

 private:
  const std::uint64_t room_bytes_;
  std::deque<std::pair<RowIndex, std::uint64_t>> released_;  ///< with their sizes, oldest first
  std::uint64_t released_bytes_ = 0;
  std::map<RowIndex, Instant> until_;
};

}  // namespace dag
