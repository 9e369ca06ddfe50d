@0xbb61d94f20e84a08;
# Rows that run elsewhere, and edges that end elsewhere.
#
#   home -> runner    Lend (run this attempt; accepted once), Stop, Release, Replicate
#   runner -> home    Ended or Return: one of the two answers every Lend while both live; Holding; Report, to a new home;
#                     Checkpointed, of an attempt that runs;
#                     Digested, after an Ended (or the report of it) whose record says that the digest follows
#   home -> home      PredecessorEnded (rows of yours wait for it), NotEnded (it has not after all: what it was told of
#                     before does not count), Consumed (no row of mine needs it again)
#   any -> any        StealRequest (I have idle lanes); not answered when there is nothing to give
#
# Everything names the epoch of the home it speaks to or for; what belongs to an older one changes nothing. A repeated Lend
# is answered again or not at all, a repeated PredecessorEnded or NotEnded is known by its `change`.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Records = import "records.capnp";
using Graphs = import "graph.capnp";
$Cxx.namespace("dag::schema");

struct Tasks {
  job @0 :Ids.JobId;
  epoch @1 :Ids.Epoch;
  shard @2 :UInt32;
  union {
    lend @3 :Lend;
    stop @4 :Records.OutputName;
    ended :group {
      record @5 :Records.OutcomeRecord;
      ran @6 :Ids.Nanoseconds;
    }
    return @7 :Return;
    release @8 :List(Records.OutputName);
    replicate :group {           # get a copy of a saved state and hold it
      record @9 :Records.OutcomeRecord;
      holders @10 :List(Ids.Life);
      saveGroup @20 :UInt32;     # the save group's first job actor
      saveMembers @21 :UInt32;   # job actors of the group; the saves of one number belong together
      saveNumber @22 :UInt32;    # from 1
      saveActor @23 :UInt32;
    }
    holding @11 :Records.OutputName;
    report @12 :Report;
    stealRequest @13 :UInt32;    # free slots
    predecessorEnded :group {
      from @14 :UInt32;          # the shard whose row ended; `shard` and `epoch` are the receiver's
      fromEpoch @15 :Ids.Epoch;
      change @16 :UInt64;        # grows with each such message of the sending home
      record @17 :Records.OutcomeRecord;     # without what it spawned
      holders @18 :List(Ids.Life);
    }
    consumed :group {
      from @19 :UInt32;
      tasks @24 :List(Records.TaskBits);
    }
    digested :group {              # of an output that is large: its readers did not wait for it
      name @25 :Records.OutputName;
      digest @26 :UInt64;          # not zero
    }
    checkpointed @27 :Records.OutcomeRecord;   # the sender holds a state that a task saved while it runs
    notEnded :group {
      from @28 :UInt32;            # the shard whose rows these are; `shard` and `epoch` are the receiver's
      fromEpoch @29 :Ids.Epoch;
      change @30 :UInt64;          # counted together with those of predecessorEnded
      tasks @31 :List(Records.TaskBits);
    }
  }
}

struct Lend {
  task @0 :Ids.TaskId;
  epoch @1 :Ids.Epoch;
  attempt @2 :Ids.AttemptNumber;
  attemptNumber @3 :UInt32;
  name @4 :Text;
  code @5 :Graphs.Code;
  returns @6 :Bool;
  hasTimeout @7 :Bool;
  call @8 :Graphs.Call;
  timeout @9 :Ids.Nanoseconds;
  actor @10 :UInt32;             # plus one
  counts @11 :List(UInt32);      # argument i takes so many of the blobs
  blobs @12 :List(Records.MaybeBytes);
  inputs @13 :List(Records.OutputName);
  predicates @14 :List(Graphs.Code);
  actorCode @15 :Graphs.Actor;
  restoreFrom @16 :Data;         # of a job actor, or of a task that saved its state
  wanted @17 :List(Wanted);      # blobs that are not in the message, and who has them
  standsForEpoch @18 :Ids.Epoch; # the run repeats an attempt whose output is gone: what it leaves has that one's name
  standsFor @19 :Ids.AttemptNumber;
  generation @20 :Ids.AttemptNumber;   # of a call: the create attempt that makes, or made, the actor's object that is meant
  generationEpoch @21 :Ids.Epoch;
  firstCheckpoint @22 :UInt32;   # attempt number of the first state that it saves; 0: it saves none
  checkpointEvery @23 :Ids.Nanoseconds;   # 0: by what saving costs
  lostAfter @24 :Ids.Nanoseconds;         # mean time to the loss of a process
  exclusive @25 :Bool;           # runs only under the lease of the process that runs it
  stages @26 :Bool;              # its output is what it returns, with the files that it wrote
  stays @27 :Bool;               # not given to those that ask for work
  alone @28 :Bool;               # nothing runs beside it in its process: it may be what took another one down
  mayOverlap @29 :Bool;          # the next attempt may begin while this one's kernel does not stop
  lastTry @30 :Bool;             # there is no next attempt if it fails
}

struct Wanted {
  position @0 :UInt32;           # among the blobs; 4294967295: the saved state that a create starts from
  shard @1 :UInt32;              # whose home knows of other holders
  task @2 :Ids.TaskId;
  epoch @3 :Ids.Epoch;
  attempt @4 :Ids.AttemptNumber;
  holders @5 :List(Ids.Life);
}

struct Return {
  name @0 :Records.OutputName;
  missing @1 :List(Records.OutputName);
  why @2 :Text;
  forThief @3 :Bool;             # no lane had begun it, and another process asked for work
  thief @4 :Ids.Life;
}

struct Report {
  # Everything the sender has of a shard, to its new home.
  had @0 :List(Had);
  running @1 :List(Running);
  ended @2 :List(Records.TaskBits);    # taken for ended by homes at the sender, and not known to be settled

  struct Had {
    record @0 :Records.OutcomeRecord;
    bytes @1 :Bool;              # the sender holds the output's bytes
  }
  struct Running {
    name @0 :Records.OutputName;
    inputs @1 :List(Records.OutputName);
  }
}
