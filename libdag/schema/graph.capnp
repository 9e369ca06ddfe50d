@0xf21c6ab87e5d4a06;
# A graph in its flat form: of a submitted job, or of what one attempt spawned (dag/detail/fragment.hpp). Arrays and
# indices; the order of adding is kept. Whoever receives one checks every index before it follows any.
#
# An index "plus one" is zero for none, since zero must be the safe default.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
$Cxx.namespace("dag::schema");

struct Graph {
  tasks @0 :List(Task);
  edges @1 :List(Edge);          # sorted by successor, in the order of adding
  arguments @2 :List(Argument);
  codes @3 :List(Code);
  literals @4 :List(Data);
  names @5 :List(Text);
  policies @6 :List(Policy);
  actors @7 :List(Actor);
  mentions @8 :List(UInt64);     # task in the high half, job actor in the low one
  saveGroups @9 :List(List(UInt32));
}

struct Task {
  code @0 :UInt32;
  name @1 :UInt32;
  policy @2 :UInt32;
  firstArgument @3 :UInt32;
  argumentCount @4 :UInt16;
  call @5 :Call;
  returns @6 :Bool;
  actor @7 :UInt32;              # plus one
  firstEdge @8 :UInt32;
  edgeCount @9 :UInt32;
}

enum Call {
  ordinary @0;
  create @1;
  call @2;
  save @3;
}

struct Edge {
  predecessor @0 :UInt32;
  successor @1 :UInt32;
  predicate @2 :UInt32;          # plus one
  kind @3 :Kind;

  enum Kind {
    strong @0;
    weak @1;
    conditional @2;
  }
}

struct Argument {
  first @0 :UInt32;
  count @1 :UInt32;
  quorum @2 :UInt32;
  kind @3 :Kind;

  enum Kind {
    literal @0;
    input @1;
    maybe @2;
    gather @3;
    quorum @4;
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
  effects @6 :UInt8;             # undeclared, pure, idempotent
  join @7 :UInt8;                # all, one_success, none_failed
  hasTimeout @8 :Bool;
  hasDeadline @9 :Bool;
  hasTakes @10 :Bool;
  timeout @11 :Ids.Nanoseconds;
  deadline @12 :Ids.Nanoseconds;
  takes @13 :Ids.Nanoseconds;
}
