#pragma once
// I10, in all worlds that have copies of a log: a promise to others is on the disk before it is sent.

#include "libdag/consensus/messages.hpp"
#include "libdag/consensus/stored.hpp"
#include "tools/sim/result.hpp"

namespace dag::sim {

/// `stored` is the disk of the sender of `message` to `to`. Throws Violation.
inline void check_promise(const consensus::Stored& stored, const consensus::Message& message, ProcessId to) {
  if (const auto* vote = std::get_if<consensus::VoteAnswer>(&message);
      vote != nullptr && vote->granted && !vote->pre) {
    const bool there =
        stored.vote.term > vote->term || (stored.vote.term == vote->term && stored.vote.candidate == to);
    if (!there) throw Violation("a vote left before it was on the disk");
  }
  if (const auto* answer = std::get_if<consensus::AppendAnswer>(&message);
      answer != nullptr && answer->matches) {
    const consensus::Index last = stored.snapshot ? stored.snapshot->index + stored.entries.size() : 0;
    if (last < answer->index && stored.vote.term <= answer->term)
      throw Violation("entries were acknowledged before they were on the disk");
  }
}

}  // namespace dag::sim
