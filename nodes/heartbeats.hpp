#pragma once
// When this node heard of the last heartbeat of each other one. Membership tells on its thread, who wants to
// know asks on its own.

#include <map>
#include <mutex>
#include <vector>

#include "libdag/membership/claim.hpp"

namespace dag {

class Heartbeats {
 public:
  /// All that are up now; `self` does not count.
  void note(const std::vector<Claim>& members, Life self, Instant now) {
    std::map<Life, Heard> heard;
    const std::lock_guard lock(mutex_);
    for (const Claim& member : members) {
      if (member.life == self) continue;
      const auto before = heard_.find(member.life);
      const bool same = before != heard_.end() && before->second.beat == member.beat;
      heard[member.life] = {member.beat, same ? before->second.at : now};
    }
    heard_ = std::move(heard);
  }
  std::map<ProcessId, Duration> ages(Instant now) const {
    std::map<ProcessId, Duration> ages;
    const std::lock_guard lock(mutex_);
    for (const auto& [life, heard] : heard_) ages[life.process] = now - heard.at;
    return ages;
  }

 private:
  struct Heard {
    std::uint64_t beat = 0;
    Instant at;
  };
  mutable std::mutex mutex_;
  std::map<Life, Heard> heard_;
};

}  // namespace dag
