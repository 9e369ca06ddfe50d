@0x9c5b8e3d41aa4a00;
# The one frame in which everything between two processes travels, whatever carries it.
#
# A *numbered* frame (seq > 0) belongs to a link: it arrives exactly once and in order while both lives last. A *bare*
# one (seq 0, no operations) acknowledges, gives credit, probes or answers. A *loose* one (seq 0, with operations) is
# outside the link: it may be lost, repeated or late, and of its header only who speaks to whom counts. Handshake and
# membership are loose, all else is numbered. libdag/link/link_machine.hpp argues why that works and why it ends.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Handshake = import "handshake.capnp".Handshake;
using Membership = import "membership.capnp".Membership;
using Cell = import "cell.capnp".Cell;
using Tasks = import "tasks.capnp".Tasks;
using Outputs = import "outputs.capnp".Outputs;
using Client = import "client.capnp".Client;
using Keeper = import "keeper.capnp".Keeper;
using Ring = import "ring.capnp".Ring;
using Consensus = import "consensus.capnp".Consensus;
$Cxx.namespace("dag::schema");

struct Envelope {
  version @0 :UInt16;            # of the protocol, as the handshake chose it; in a Hello the sender's highest
  cluster @1 :Ids.ClusterId;
  from @2 :Ids.Life;             # who speaks
  to @3 :Ids.Life;               # to whom, in which life; a frame for another life is refused. Zero: whoever listens
  seq @4 :UInt64;                # of the frame; zero: bare or loose
  chargeBytes @5 :UInt64;        # what the operations cost in byte credit, by the sender's measure
  ack @6 :UInt64;                # every frame of yours with a lower seq has arrived
  ackBeyond @7 :UInt64;          # bit i: so has frame ack + 1 + i
  creditOperations @8 :UInt64;   # how much you may have sent since the link began
  creditBytes @9 :UInt64;
  probe @10 :UInt64;             # not zero: answer at once, with this number
  answer @11 :UInt64;            # to your probe; zero: none has arrived
  operations @12 :List(Operation);
}

struct Operation {
  # A member that the receiver does not know is answered by `unimplemented`; it is neither dropped silently nor taken for
  # something else, and the other operations of the frame are handled as ever.
  union {
    invalid @0 :Void;            # what nobody set; refused
    unimplemented @1 :Unimplemented;
    handshake @2 :Handshake;
    membership @3 :Membership;
    cell @4 :Cell;
    tasks @5 :Tasks;
    outputs @6 :Outputs;
    piece @7 :Piece;
    jobNote @8 :JobNote;
    client @9 :Client;
    keeper @10 :Keeper;
    ring @11 :Ring;
    consensus @12 :Consensus;
  }
}

struct Unimplemented {
  conversation @0 :UInt16;       # the member of Operation's union that arrived
  message @1 :UInt16;            # the member of that conversation's union; 65535: the whole conversation is unknown
}

struct Piece {
  # A part of an envelope (with one operation) that is too large for a frame. Pieces of one message follow each other in
  # order, on the bulk link; the message counts when it is whole. Cap'n Proto has no blob of 512 MiB or more: an output that
  # large is left out of its message, and its bytes follow the encoded ones as they are.
  number @0 :UInt64;             # of the message, the same in all of its pieces
  totalBytes @1 :UInt64;
  offset @2 :UInt64;
  bytes @3 :Data;
  outputBytes @4 :UInt64;        # the last so many bytes are the output that was left out
}

struct JobNote {
  # A line or progress report of a kernel, or an event of an attempt, for watchers of the job. Only for people: nothing
  # depends on it, and some may be missing.
  job @0 :Ids.JobId;
  fraction @1 :Float64;          # of the task, where it is progress
  name @2 :Text;                 # of the task
  device @3 :Text;               # where the kernel runs
  text @4 :Text;
  kind @5 :Kind;
  task @6 :Ids.TaskId;
  number @7 :UInt32;             # of the attempt, as Context::attempt says

  enum Kind {
    log @0;
    progress @1;
    over @2;                     # the kernel had said how far it is, and does not run any more
    retry @3;
    crash @4;
    timeout @5;
  }
}
