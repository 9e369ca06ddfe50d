#pragma once
// Reports the nodes of the cluster in a node's log and for history: their coming, silence and going, and
// their resources, as this node sees them.

#include <spdlog/logger.h>

#include <map>
#include <string>
#include <vector>

#include "libdag/journal/sink.hpp"
#include "libdag/membership/effects.hpp"

namespace dag {

/// A node's own claims, in words: "2 cpu lanes, 23.5 GiB; it is draining". Values that change with every task
/// are left out.
std::string words_of(const LoadSummary& load);

/// Used by one thread. `records`: the journal; nullptr: there is none. Both outlive it.
class MemberStory {
 public:
  MemberStory(ProcessId self, EventSink* records, spdlog::logger& logger);

  void started(Life self, const Endpoint& endpoint);
  void up(const MemberUp& member);
  void doubted(Life life, bool suspected);
  void down(const MemberDown& member);
  /// All nodes that are up, this node included: reports a node's resources when they change.
  void seen(const std::vector<Claim>& members);

 private:
  void say(Life life, event::MemberChange change, std::string why);

  const ProcessId self_;
  EventSink* const records_;
  spdlog::logger& logger_;
  std::map<ProcessId, LoadSummary> has_;
};

}  // namespace dag
