#pragma once
// Messages between the replicas of a log. Each message carries its sender's seat: a vote or acknowledgement
// counts only from a seat that has a vote.

#include <variant>

#include "libdag/consensus/entry.hpp"

namespace dag::consensus {

/// "Would you vote for me in this term?" Promises nothing and changes nothing (Ongaro 2014, section 9.6).
struct AskVote {
  Seat from;
  Term term = 0;
  Index last_index = 0;
  Term last_term = 0;
  bool pre = false;       ///< only asks
  bool transfer = false;  ///< wanted by the leader: followers need not wait for its silence
};
struct VoteAnswer {
  Seat from;
  Term term = 0;  ///< the asked term if granted, else the answering seat's
  bool granted = false;
  bool pre = false;
};

/// Entries behind `previous_index`; a sign of life if there are none.
struct Append {
  Seat from;
  Term term = 0;
  Index previous_index = 0;
  Term previous_term = 0;
  std::vector<Entry> entries;
  Index settled = 0;
  std::uint64_t beat = 0;  ///< comes back in the answer
  bool rests = false;      ///< the leader's next sign of life may take ReplicaOptions::rest_heartbeat
};
struct AppendAnswer {
  Seat from;
  Term term = 0;
  /// The log matches and has the entries up to `index` on the disk. Else: the log differs behind `index`.
  bool matches = false;
  Index index = 0;
  bool empty = false;  ///< has no log at all: wants a snapshot
  std::uint64_t beat = 0;
};

/// A piece of a snapshot's state, for a seat that lacks entries before the leader's log begins.
struct SnapshotPiece {
  Seat from;
  Term term = 0;
  Index index = 0;
  Term index_term = 0;
  Configuration configuration;
  std::uint64_t size_bytes = 0;
  std::uint64_t offset = 0;
  Blob bytes;
  std::uint64_t beat = 0;
};
struct SnapshotAnswer {
  Seat from;
  Term term = 0;
  Index index = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t beat = 0;
};

/// "Be leader now": the sender takes no more commands, and the receiver has all entries.
struct TakeOver {
  Seat from;
  Term term = 0;
};

/// Answers the leader of a term that is over. (A separate message, since a leader that led
/// the older term and leads this one could take a common answer for one to its present
/// messages.)
struct Outdated {
  Seat from;
  Term term = 0;
};

/// Answer of a node that has removed this log because no copy is needed any more.
struct Over {
  Seat from;
  Term term = 0;
};

using Message = std::variant<AskVote, VoteAnswer, Append, AppendAnswer, SnapshotPiece, SnapshotAnswer,
                             TakeOver, Outdated, Over>;

/// Between nodes, which hold replicas of many logs.
struct Addressed {
  JobId job;
  Message message;
};

}  // namespace dag::consensus
