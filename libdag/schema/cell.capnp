@0x8d40e2f7935c4a07;
# The record of a job, and what is told of it. The cell schedules nothing.
#
#   cell -> all     JobCreate (what the job is), JobState (who takes part; the newest version counts)
#   any -> cell     askPlan (of a process that has not been told what the job is), answered by JobCreate
#   cell -> home    Assign (you are the home of this shard now, and this is settled of it), Settled (a stream in the cell's
#                   order; a gap waits), Keep, Cancel
#   home -> cell    Outcomes (a cut of what ended, in steps; one under way at a time), JobFailed
#   runner -> cell  renewLease (of a process that runs exclusive tasks), answered by leaseRenewed
#
# Each may arrive twice and in any order: it names the epoch, position or version it belongs to, and states are whole, not
# changes. It ends: each home counts its open rows down in its Outcomes; when all are zero and settled the job is over.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Records = import "records.capnp";
using Graph = import "graph.capnp".Graph;
$Cxx.namespace("dag::schema");

struct Cell {
  job @0 :Ids.JobId;
  epoch @1 :Ids.Epoch;           # of the shard; of messages that name one
  shard @2 :UInt32;
  union {
    jobCreate @3 :JobCreate;
    jobState @4 :JobState;
    assign @5 :Assign;
    settled @6 :Settled;
    keep @7 :List(Ids.TaskId);   # a client wants these outputs: they are not let go
    cancel @8 :List(Ids.TaskId);
    outcomes @9 :Outcomes;
    jobFailed @10 :Records.Error;
    renewLease @11 :UInt64;      # the number of the question
    leaseRenewed @12 :UInt64;
    askPlan @13 :Void;
  }
}

struct JobCreate {
  name @0 :Text;
  graph @1 :Graph;
  shardOf @2 :List(UInt32);      # per task of the graph
  shards @3 :UInt32;
  supervised @4 :Bool;           # a switch of the tests: no task is a bare row
  inlineBytesMax @5 :UInt64;     # outputs up to this size travel inside records
  seed @6 :UInt64;
  quarantine @7 :Bool;           # nobody starts another process when one dies, and the client is in one of them
}

struct JobState {
  version @0 :UInt64;            # older ones change nothing
  lives @1 :List(Ids.Life);      # sorted; one that is missing and was there is dead for this job
  homes @2 :List(Ids.Life);      # per shard
  epochs @3 :List(Ids.Epoch);    # per shard
  cell @4 :Ids.Life;
  cancelled @5 :Bool;
  ended @6 :Bool;
  stopped @7 :Records.Error;     # why before its end; null: it was not
  crashed @8 :List(Crashed);     # by task, until it is settled
  term @9 :UInt32;               # of the cell's leader: what was said to another's is said again
  replicas @10 :UInt32;          # so many hold the record
  recorders @11 :List(Ids.Life); # sorted; members that run nothing and are nobody's home
  suspects @12 :List(Crashed);   # by task, until it is settled; those that may have taken processes down
}

struct Crashed {                 # a task that has taken processes down with it
  task @0 :Ids.TaskId;
  times @1 :UInt32;              # each counts as a try that failed
  what @2 :Text;                 # of the last time, for people
}

struct Tried {                   # a task that is to be tried again
  task @0 :Ids.TaskId;
  failed @1 :UInt32;             # tries of its kernel; those that took their process down are not among them
}

struct Assign {
  asked @0 :List(Ids.Life);      # who is asked for a Report: no row starts before each has answered or died
  settled @1 :List(Records.OutcomeRecord);   # in the order of settling
  kept @2 :List(Records.OutputName);         # wanted by clients; their attempts mean nothing
  cancelled @3 :List(Ids.TaskId);
  tried @4 :List(Tried);         # rows of the shard that are not settled
  firstTry @5 :List(FirstTry);   # settled, and nobody needs more than the name
  started @6 :List(Ids.TaskId);  # that may run only once, were started, and are not settled
}

struct Settled {
  from @0 :UInt64;               # exclusive
  to @1 :UInt64;                 # inclusive
  outcomes @2 :UInt64;           # the newest Outcomes of this home that came
  predecessors @3 :List(Records.OutcomeRecord);  # rows of other shards that rows here wait for to be settled
  steps @4 :UInt64;              # so many of the home's steps are recorded
}

struct Outcomes {
  number @0 :UInt64;             # from 1
  rowsOpen @1 :UInt64;           # not said yet after this cut; zero everywhere, and all recorded: the job has ended
  plain @2 :List(Records.OutputName);        # finished, and nothing more to say: the many
  records @3 :List(Records.OutcomeRecord);
  freed @4 :List(Ids.TaskId);    # nobody will ask for their bytes
  firstTry @5 :List(Records.TaskBits);   # as plain, by attempt 1 of this epoch
  tried @6 :List(Tried);         # each is tried again when this is recorded
  firstStep @7 :UInt64;          # number of the first step, from 0; those said before from there on are withdrawn
  steps @8 :List(OutcomeStep);   # none: all is one step that needs nothing
  needsFirst @9 :List(FirstNeeds);
  needs @10 :List(Records.OutputName);
  started @11 :List(Ids.TaskId); # that may run only once, and do when this is recorded
}

# Recorded as one, when those before it are, and all that it rests on in other shards; or together with these. The numbers
# are where its part of each list ends.
struct OutcomeStep {
  firstTry @0 :UInt32;
  plain @1 :UInt32;
  records @2 :UInt32;
  needsFirst @3 :UInt32;
  needs @4 :UInt32;
  rows @5 :UInt32;               # how many rows it is about; one that grew is not among them
}

struct FirstNeeds {              # rows of another shard that were used by attempt 1 of an epoch
  epoch @0 :Ids.Epoch;
  first @1 :Ids.TaskId;          # bits as in Records.TaskBits
  bits @2 :UInt64;
}

struct FirstTry {                # tasks that finished by attempt 1 of an epoch
  epoch @0 :Ids.Epoch;
  tasks @1 :List(Records.TaskBits);
}
