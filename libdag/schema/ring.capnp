@0xe0b7d5a4c2914a0b;
# How two processes of one host get rings in shared memory between them. The story is told in libdag/ring/messages.hpp:
# both offer, both say that they are ready, either may close for good. An older peer answers `unimplemented`, which closes.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("dag::schema");

struct Ring {
  union {
    offer @0 :RingOffer;
    ready @1 :Void;              # I have opened what you offered, and read what I offered
    closed @2 :Text;             # why there is no ring between these two lives, for people
    handOver @3 :HandOver;
    handBack :group {
      number @4 :UInt64;
      read @5 :Bool;             # false: it could not be opened, or fetched
    }
    streamOver @6 :StreamOver;
  }
}

struct HandOver {
  # A large output, read where it lies. Believed as little as an offer. Data that names the number comes behind it.
  number @0 :UInt64;             # counted from 1 by the owner, per reader
  process @1 :Int32;
  file @2 :Int32;
  nonce @3 :UInt64;
  capacityBytes @4 :UInt64;
  sizeBytes @5 :UInt64;
}

struct StreamOver {
  # A large output, to be fetched by a TCP stream from the host that the link is with (libdag/net/byte_streams.hpp).
  number @0 :UInt64;             # as HandOver's
  secret @1 :UInt64;
  port @2 :UInt16;
  sizeBytes @3 :UInt64;
}

struct RingOffer {
  # Names descriptors of the sender. The receiver believes none of it: it opens only sealed memory of this size with these
  # nonces in it, of a process that it may look into.
  boot @0 :Text;                 # which run of which kernel; empty: none, so nobody accepts
  processNamespace @1 :UInt64;   # in which the process id counts
  process @2 :Int32;
  inboxFile @3 :Int32;           # number of the descriptor
  doorbellFile @4 :Int32;
  inboxNonce @5 :UInt64;
  doorbellNonce @6 :UInt64;
  capacityBytes @7 :UInt64;
}
