@0xe7a3905c1d2b4a05;
# The words of which the conversations of a job are made: outputs, outcomes, errors, code.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Graph = import "graph.capnp".Graph;
$Cxx.namespace("dag::schema");

struct OutputName {
  # The output of an attempt. It denotes one value for ever.
  task @0 :Ids.TaskId;
  epoch @1 :Ids.Epoch;
  attempt @2 :Ids.AttemptNumber;
}

enum Outcome {
  none @0;                       # it has not ended; in a record: it becomes a task that it spawned
  finished @1;
  failed @2;
  skipped @3;
  cancelled @4;
}

struct OutcomeRecord {
  # The outcome of an attempt, and the attempts it rests on. It travels with every copy of the output, so that a holder of
  # the copy can vouch for it.
  task @0 :Ids.TaskId;
  epoch @1 :Ids.Epoch;
  attempt @2 :Ids.AttemptNumber;
  outcome @3 :Outcome;
  hasOutput @4 :Bool;
  digest @5 :UInt64;             # of the output's bytes; zero: not taken
  sizeBytes @6 :UInt64;
  becomes @7 :UInt32;            # index in `spawned` plus one; zero: it becomes nothing else
  firstSpawned @8 :Ids.TaskId;   # the others follow
  inputs @9 :List(OutputName);   # sorted by task
  value @10 :Data;               # the output itself when it is small; null: it lies elsewhere, or there is none
  conditions @11 :List(Bool);    # of the conditional out-edges, in their order
  spawned @12 :Graph;            # null: nothing
  error @13 :Error;
  grew @14 :Bool;                # it spawned something, whether or not `spawned` came along
  tries @15 :UInt32;             # of its kernel: told to the cell, of a task that did not finish
  digestFollows @16 :Bool;       # the sender, a runner, is taking the digest, and will say Digested
  literalsAbove @17 :List(UInt64);  # literals of `spawned` whose bytes are left out: in the high half which, in the low one
                                 # which of the fragment that the task lies in has them
  tolerated @18 :Bool;           # told to the cell, of a task that failed: all its successors wait for any outcome
}

struct Error {
  code @0 :UInt16;               # of dag/errors.def
  what @1 :Text;
  hint @2 :Text;
  cause @3 :Text;
}

struct MaybeBytes {
  # An input that is absent is not the same as one without bytes.
  held @0 :Bool;
  bytes @1 :Data;
}

struct TaskBits {                # of 64 tasks, those whose bit is set
  first @0 :Ids.TaskId;          # its index is a multiple of 64
  bits @1 :UInt64;               # the lowest one is for `first`; at least one is set
}
