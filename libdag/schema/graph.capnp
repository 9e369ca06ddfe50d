@0xf21c6ab87e5d4a06;
# A graph in its flat form: of a submitted job, or of what one attempt spawned (dag/detail/fragment.hpp). Arrays and
# indices; the order of adding is kept. Whoever receives one checks every index before it follows any.
#
# An index "plus one" is zero for none, since zero must be the safe default.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
$Cxx.namespace("dag::schema");

struct Graph {
  arguments @0 :List(Argument);  # of `kinds`
  codes @1 :List(Code);
  literals @2 :List(Data);
  names @3 :List(Text);
  policies @4 :List(Policy);
  actors @5 :List(Actor);
  mentions @6 :List(UInt64);     # task in the high half, job actor in the low one
  saveGroups @7 :List(List(UInt32));
  taskLiterals @8 :List(UInt32);    # which of `literals` the tasks' literal arguments are, task by task
  kinds @9 :List(TaskKind);      # most graphs have few kinds of tasks, and many of each
  taskKinds @10 :List(UInt32);   # per task: which of `kinds`
  edgeCounts @11 :List(UInt32);  # per task: its in-edges
  edges @12 :List(UInt32);       # task by task, in the order of adding: the predecessor; the two highest bits: EdgeKind
  conditions @13 :List(UInt64);  # of each conditional edge: its place in `edges` in the high half, its predicate's code in the low one
  literalCounts @14 :List(UInt32);  # per task: its literals; empty when no task has any
  families @15 :List(Family);    # in their order; the lists that are "per task" and "task by task" do not have their tasks
  groups @16 :List(Group);
  total @17 :UInt64;             # tasks that the job will have in all; 0: not stated
}

struct Group {
  # Tasks that are started again together: those whose policy names it.
  name @0 :UInt32;
  strategy @1 :UInt8;            # one_for_one, rest_for_one, one_for_all
  restarts @2 :UInt32;           # more within the period: it gives up
  period @3 :Ids.Nanoseconds;
}

struct Family {
  # Tasks that follow each other, one for each point of a range, row by row: a formula for what else would be written.
  firstTask @0 :UInt32;
  rows @1 :UInt32;
  columns @2 :UInt32;
  before @3 :List(UInt64);       # offsets of predecessors: rows in the high half, columns in the low one, as Int32
  inputs @4 :List(UInt32);       # tasks that each of them waits for
  eachInputs @5 :List(Bool);     # per input: the first of as many, for one each
  literals @6 :List(UInt32);
  kinds @7 :List(UInt32);        # plus one; by the number of predecessors in the family
  writtenOut @8 :Bool;           # its tasks are in the lists like all others
}

enum EdgeKind {
  strong @0;
  weak @1;
  conditional @2;
}

struct TaskKind {
  # The properties shared by tasks that differ only in their literals and their predecessors.
  code @0 :UInt32;
  name @1 :UInt32;
  policy @2 :UInt32;
  firstArgument @3 :UInt32;
  argumentCount @4 :UInt16;
  call @5 :Call;
  returns @6 :Bool;
  actor @7 :UInt32;              # plus one
}

enum Call {
  ordinary @0;
  create @1;
  call @2;
  save @3;
}

struct Argument {                # kinds whose parameters are made alike share them
  first @0 :UInt32;              # an in-edge of the task, or one of its own literals, counted from its first
  count @1 :UInt32;
  quorum @2 :UInt32;
  kind @3 :Kind;

  enum Kind {
    literal @0;
    input @1;
    maybe @2;
    gather @3;
    quorum @4;
    point @5;                    # where in its family the task is
  }
}

struct Code {
  # Where code lies in the files that every process of the job has loaded: which module (0: none), and how far from its
  # beginning. Both processes have the same build, the handshake has seen to that.
  thunkModule @0 :UInt16;
  functionModule @1 :UInt16;
  thunk @2 :UInt64;
  function @3 :UInt64;
}

struct Actor {
  name @0 :UInt32;
  createTask @1 :UInt32;         # plus one
  save @2 :Code;
  restore @3 :Code;
  destroy @4 :Code;
}

struct Policy {
  cpus @0 :Float64;
  gpus @1 :UInt32;
  attempts @2 :UInt32;
  memoryBytes @3 :UInt64;
  backoff @4 :Ids.Nanoseconds;
  priority @5 :UInt8;            # low, normal, high, urgent
  effects @6 :UInt8;             # undeclared, pure, idempotent, atMostOnce, exclusive, staged
  join @7 :UInt8;                # all, one_success, none_failed
  hasTimeout @8 :Bool;
  hasDeadline @9 :Bool;
  hasTakes @10 :Bool;
  timeout @11 :Ids.Nanoseconds;
  deadline @12 :Ids.Nanoseconds;
  takes @13 :Ids.Nanoseconds;
  hasCheckpoint @14 :Bool;
  checkpoint @15 :Ids.Nanoseconds;    # between two saves of its state; 0: as the runtime sees fit
  varying @16 :Bool;             # its kernel gives another value each time
  group @17 :UInt32;             # plus one
  publishes @18 :Bool;           # what the task before it staged
  keep @19 :Bool;                # its output stays for a client that may ask for it
}
