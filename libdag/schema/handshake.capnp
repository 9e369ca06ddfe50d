@0xc3f1d0a9be5e4a02;
# May these two processes link, and in which version of the protocol?
#
#   caller -> called   Hello, repeated until answered or given up. Before it, nothing else is understood.
#   called -> caller   Welcome, or HelloRefused with the reason. Computed from the Hello alone, so repeats are harmless.
#
# These travel in loose frames (seq 0), since there is no link yet. They are the one conversation that every version must
# be able to read of every other: fields are only ever added, and what a Hello of version 1 meant it means for ever.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
$Cxx.namespace("dag::schema");

struct Handshake {
  union {
    hello @0 :Hello;
    welcome @1 :Welcome;
    refused @2 :HelloRefused;
  }
}

struct Hello {
  cluster @0 :Ids.ClusterId;     # zero: "whichever you belong to"; the Welcome tells
  versionMin @1 :UInt16;
  versionMax @2 :UInt16;         # both included; zero is no version
  from @3 :Ids.Life;
  build @4 :Text;                # of the module with the job's kernels; empty: this process runs none
  controlAddress @5 :Text;       # HOST:PORT where the caller listens: where to link back to
  bulkAddress @6 :Text;
}

struct Welcome {
  cluster @0 :Ids.ClusterId;
  version @1 :UInt16;            # the highest that both speak; both use it from now on
  from @2 :Ids.Life;
  build @3 :Text;
  controlAddress @4 :Text;
  bulkAddress @5 :Text;
}

struct HelloRefused {
  from @0 :Ids.Life;
  code @1 :UInt16;               # of dag/errors.def: peer_version, binary_mismatch, ...
  what @2 :Text;                 # names both sides; shown to a person as it is
  hint @3 :Text;
}
