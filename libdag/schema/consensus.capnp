@0x9f6e2d4b8c1a7e13;
# Messages between the replicas of a log (libdag/consensus/messages.hpp): votes, entries, snapshots, hand-over of
# leadership. Each may be lost, repeated and late; a vote or acknowledgement counts only from a seat that has a vote.
# It ends: elections when a majority hears each other, the rest when a copy has all that its leader has.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
$Cxx.namespace("dag::schema");

struct Consensus {
  job @0 :Ids.JobId;             # whose log
  from @1 :Seat;
  term @2 :Ids.Term;
  union {
    askVote @3 :AskVote;
    voteAnswer @4 :VoteAnswer;
    append @5 :Append;
    appendAnswer @6 :AppendAnswer;
    snapshotPiece @7 :SnapshotPiece;
    snapshotAnswer @8 :SnapshotAnswer;
    takeOver @9 :Void;           # be leader now: you have all I have, and I take no more
    outdated @10 :Void;          # to who speaks as the leader of a term that is over
    over @11 :Void;              # to anything: this log is not needed any more, nobody needs a copy
  }
}

struct Seat {                    # one copy's place: what another disk of that node had promised counts for nothing
  node @0 :Ids.ProcessId;
  disk @1 :UInt64;
}

struct Configuration {
  voters @0 :List(Seat);         # both sorted; nobody is in both
  learners @1 :List(Seat);
}

struct AskVote {
  lastIndex @0 :UInt64;
  lastTerm @1 :Ids.Term;
  pre @2 :Bool;                  # only asks, and changes nothing
  transfer @3 :Bool;             # the leader wants it
}

struct VoteAnswer {
  granted @0 :Bool;
  pre @1 :Bool;
}

struct Append {
  previousIndex @0 :UInt64;
  previousTerm @1 :Ids.Term;
  settled @2 :UInt64;
  beat @3 :UInt64;               # comes back in the answer
  entries @4 :List(Entry);       # none: a sign of life
  rests @5 :Bool;                # the log is at rest: the next sign of life comes much later

  struct Entry {
    term @0 :Ids.Term;
    type @1 :UInt8;              # noop, configuration, command
    command @2 :Data;            # cell_log.capnp
    configuration @3 :Configuration;
  }
}

struct AppendAnswer {
  matches @0 :Bool;              # the entries up to `index` are on the disk; if not, the logs differ behind it
  empty @1 :Bool;                # there is no log at all: a snapshot is wanted
  index @2 :UInt64;
  beat @3 :UInt64;
}

struct SnapshotPiece {
  index @0 :UInt64;
  indexTerm @1 :Ids.Term;
  configuration @2 :Configuration;
  sizeBytes @3 :UInt64;          # of all pieces
  offset @4 :UInt64;
  bytes @5 :Data;
  beat @6 :UInt64;
}

struct SnapshotAnswer {
  index @0 :UInt64;
  receivedBytes @1 :UInt64;
  beat @2 :UInt64;
}
