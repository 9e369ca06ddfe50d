@0xa4d27c61b39f4a03;
# Which processes are alive, how loaded, and where? libdag/membership/messages.hpp has the details; in short: each pings
# a few others, asks helpers about the silent ones, and every message carries claims, the sender's own first.
#
# All of these travel in loose frames (seq 0): they may be lost, late or repeated. A ping that a link would deliver
# faithfully two seconds late would say that somebody is alive who is not.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
$Cxx.namespace("dag::schema");

struct Membership {
  claims @0 :List(Claim);
  union {
    ping @1 :UInt64;             # its number; owes an ack with the same
    ack @2 :UInt64;
    pingRequest :group {         # asker -> helper: "I do not hear `target`, do you?"
      number @3 :UInt64;
      target @4 :Ids.Life;
    }
    nack @5 :UInt64;             # helper -> asker: "neither do I"
    gossip @6 :Void;
    join @7 :Text;               # to whoever listens at this address, as the sender wrote it; owes a welcome
    welcome @8 :Text;            # the address as in the join
    obituary :group {            # "you are dead": the answer to a life that is over
      deceased @9 :Claim;        # what the sender knows of the receiver
      membersUp @10 :UInt32;     # in the sender's view, itself included: of two who hold each other dead, fewer yield
    }
  }
}

struct Claim {
  # A process's word about another. The stronger of two claims about one process is kept by both sides, so neither the
  # order nor the number of messages matters.
  life @0 :Ids.Life;
  state @1 :State;
  beat @2 :UInt64;               # grows with each heartbeat of the process itself; others only repeat it
  control @3 :Text;              # HOST:PORT
  bulk @4 :Text;
  devices @5 :List(DeviceLoad);
  tasksReady @6 :UInt32;         # that a thief could take
  disk @7 :UInt64;               # of its log of cells; 0: it holds no copies of any
  diskFull @8 :Bool;             # what it would promise waits until there is room
  draining @9 :Bool;             # the node is to go: nothing new is for it
  diskStuck @11 :Bool;           # it takes nothing, and is not full
  witness @10 :Bool;             # it holds copies, and runs and leads nothing
  sick @13 :Bool;                # it is there, and late in all that it does
  web @12 :Text;                 # where it serves HTTP, HOST:PORT; null: nowhere

  enum State {
    alive @0;
    suspect @1;
    dead @2;                     # for ever, for this life
    left @3;                     # likewise
  }
}

struct DeviceLoad {
  kind @0 :Text;                 # "cpu", "cuda", ...
  lanes @1 :UInt32;
  lanesFree @2 :UInt32;
  memoryBytes @3 :UInt64;
  memoryFreeBytes @4 :UInt64;
  backlog @5 :Ids.Nanoseconds;   # predicted run time of all that waits for it or runs on it
  busy @6 :Ids.Nanoseconds;      # its lanes inside of kernels since the node began, summed over them
}
