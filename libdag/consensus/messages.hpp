#pragma once
// What replicas of one log say to each other. Each message carries the seat of its sender: who counts a word
// looks whether that seat has one.

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
  bool transfer = false;  ///< the leader wants it: its followers need not wait for its silence
};
struct VoteAnswer {
  Seat from;
  Term term = 0;  ///< the asked one when granted, else that of who answers
  bool granted = false;
  bool pre = false;
};

/// Entries behind `previous_index`, or none: then it is a sign of life.
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
  /// The entries up to `index` are on the disk. If not: the log differs behind `index`.
  bool matches = false;
  Index index = 0;
  bool empty = false;  ///< has no log at all: wants a snapshot
  std::uint64_t beat = 0;
};

/// A piece of a snapshot's state, for who is behind the beginning of the leader's log.
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

/// "Be leader now": who sends it has stopped taking commands, and who gets it has all of them.
struct TakeOver {
  Seat from;
  Term term = 0;
};

/// To who speaks as the leader of a term that is over. (An answer of its own kind, because one that looks
/// like the answer to something of this term could be taken for one, by a leader that also led the older
/// term.)
struct Outdated {
  Seat from;
  Term term = 0;
};

/// The answer of who has let go of this log because it is not needed any more: nobody needs a copy.
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
