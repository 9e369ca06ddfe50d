#pragma once
// What a node tells of the nodes of its cluster, in its log and for history: who came, was silent, and went,
// and what each has, as this node sees it.

#include <spdlog/logger.h>

#include <map>
#include <string>
#include <vector>

#include "libdag/journal/sink.hpp"
#include "libdag/membership/effects.hpp"

namespace dag {

/// What a node says of itself, in words: "2 cpu lanes, 23.5 GiB; it is draining". What changes with every
/// task is left out.
std::string words_of(const LoadSummary& load);

/// Of one thread. `records`: where it is kept; nullptr: nowhere. Both outlive it.
class MemberStory {
 public:
  MemberStory(ProcessId self, RecordSink* records, spdlog::logger& logger);

  void started(Life self, const Endpoint& endpoint);
  void up(const MemberUp& member);
  void doubted(Life life, bool suspected);
  void down(const MemberDown& member);
  /// All that are up, this node included: says what one has when that is new.
  void seen(const std::vector<Claim>& members);

 private:
  void say(Life life, recorded::MemberChange change, std::string why);

  const ProcessId self_;
  RecordSink* const records_;
  spdlog::logger& logger_;
  std::map<ProcessId, LoadSummary> has_;
};

}  // namespace dag
