#include "libdag/log/recovery.hpp"

#include <string>

namespace dag::log {
namespace {

Error lost(std::uint64_t segment, const std::string& what) {
  return {ErrorCode::log_damaged, "segment " + std::to_string(segment) + " of the log: " + what,
          "the disk has lost written data: replace the disk, and start this node without data"};
}

}  // namespace

Status Recovery::take(const SegmentHead& head, std::span<const std::byte> segment,
                      const std::function<void(const Record&)>& visit) {
  if (last_) {
    if (head.node != last_->node || head.disk != last_->disk) {
      return lost(head.number, "it belongs to another node or disk than the one before it");
    }
    if (head.number != last_->number + 1) {
      return lost(last_->number + 1, "it is missing, and there is segment " + std::to_string(head.number));
    }
    // The segment was begun when the end of the last one was on the disk.
    if (head.chain != at_.chain) return lost(last_->number, "records at its end are lost");
  }
  last_ = head;
  const Scan read = scan(head, segment, visit);
  at_ = read.at;
  remains_ = read.remains;
  if (read.damaged) return lost(head.number, "what lies at " + std::to_string(at_.offset) + " is damaged");
  return Done{};
}

}  // namespace dag::log
