@0xd41b7f0a5c8e2396;
# Why tasks are where they are. Asked by a client (client.capnp) of the node that leads the job, which asks each process of it
# (keeper.capnp): a home knows why a row does not run, a process what it has taken and what its lanes run.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Records = import "records.capnp";
$Cxx.namespace("dag::schema");

struct TaskSelector {
  # With no name, no tasks and no range: all.
  name @0 :Text;                 # of all these tasks
  tasks @1 :List(Ids.TaskId);
  outputs @2 :Bool;              # and which outputs lie where
  range @3 :TaskRange;           # null: none
  failed @4 :Bool;               # of them, those that failed, or of which a try did
  criticalPath @5 :Bool;         # and about how long the rest of the job takes
}

struct TaskRange {
  name @0 :Text;                 # null: any
  first @1 :Ids.TaskId;          # with `last`: both ends count
  last @2 :UInt32;               # of the same origin
}

struct ProcessExplained {
  life @0 :Ids.Life;
  tasks @1 :List(TaskExplained); # whose home is there; the first ones of those that are counted
  counts @2 :List(UInt64);       # by state
  taken @3 :List(TaskExplained); # attempts that it has for homes elsewhere
  running @4 :List(RunningNow);  # on its lanes
  lanes @5 :UInt32;
  queued @6 :UInt64;             # that wait for one of them
  held @7 :List(HeldOutputs);    # if it was asked for
  criticalPath @8 :CriticalPath; # null: it was not asked for, or all has ended
  runs @9 :RunEstimate;          # of tasks of all names that ended at homes there; null: none has
}

struct RunEstimate {
  # How long some tasks ran.
  mean @0 :Ids.Nanoseconds;
  least @1 :Ids.Nanoseconds;     # most ran between these two
  most @2 :Ids.Nanoseconds;
  runs @3 :UInt64;               # that it was learnt from; 0: it was stated
}

struct CriticalPath {
  left @0 :Ids.Nanoseconds;      # 0: not known
  tasks @1 :UInt64;
  first @2 :Ids.TaskId;
}

struct HeldOutputs {
  name @0 :Text;                 # of the tasks; null: of all other names
  outputs @1 :UInt64;
  bytes @2 :UInt64;
}

struct TaskExplained {
  task @0 :Ids.TaskId;
  name @1 :Text;
  state @2 :State;
  outcome @3 :Records.Outcome;   # of one that has ended
  epoch @4 :Ids.Epoch;           # with `attempt`: the newest one
  attempt @5 :Ids.AttemptNumber;
  why @6 :Text;
  failures @7 :UInt32;
  waitsFor @8 :List(Ids.TaskId); # the first ones of
  waitsForAll @9 :UInt64;
  candidates @10 :List(Candidate);
  error @11 :Records.Error;      # null: none
  needs @12 :Needs;
  priority @13 :UInt8;
  usual @14 :RunEstimate;        # of tasks of its name; null: not known
  place @15 :UInt64;             # in the queue for the lanes of the process, from 1; 0: not there, or far behind

  enum State {
    waiting @0;
    held @1;
    ready @2;
    running @3;
    lent @4;
    ended @5;
  }
  struct Needs {
    cpus @0 :UInt32;
    gpus @1 :UInt32;
    memory @2 :UInt64;           # bytes
  }
  struct Candidate {
    process @0 :Ids.ProcessId;
    wait @1 :Ids.Nanoseconds;
    transfer @2 :Ids.Nanoseconds;
    run @3 :Ids.Nanoseconds;
    misfit @4 :Text;             # null: it could take it
  }
}

struct RunningNow {
  task @0 :Ids.TaskId;
  epoch @1 :Ids.Epoch;
  attempt @2 :Ids.AttemptNumber;
  lane @3 :UInt32;
  ran @4 :Ids.Nanoseconds;
  name @5 :Text;                 # of the task; null: its home is elsewhere
  usual @6 :RunEstimate;         # of tasks of that name; null: not known
  givenUp @7 :Bool;              # it did not end when it was told to: its kernel still runs, and another thread has its lane
  number @8 :UInt32;             # of the attempt, as Context::attempt says; 0: not known
}
