@0xd98e15f4076b4a04;
# The bytes that a task left, pulled by whoever needs them.
#
#   any -> home       Need: where is it? The holders I knew are `gone`. Repeated until answered.
#   home -> any       Located: here, under this record; or lost for ever.
#   reader -> holder  Fetch. Names exactly one attempt: what two attempts left is never mixed.
#   holder -> reader  Data, with the record it vouches by; or Missing: this holder does not have it (any more).
#
# It ends: a Fetch is answered by one of two, or its holder dies; a home asked by a Need finds a live holder, or makes the
# output again, or says that it is lost, or that it was released.

using Cxx = import "/capnp/c++.capnp";
using Ids = import "ids.capnp";
using Records = import "records.capnp";
$Cxx.namespace("dag::schema");

struct Outputs {
  job @0 :Ids.JobId;
  epoch @1 :Ids.Epoch;           # of the home, in Need and Located
  shard @2 :UInt32;
  name @3 :Records.OutputName;   # what is asked for
  union {
    need @4 :List(Ids.Life);     # holders that were found to have nothing
    located :group {
      record @5 :Records.OutcomeRecord;
      holders @6 :List(Ids.Life);
      lost @7 :Records.Error;    # null: it is not
    }
    fetch @8 :Void;
    data :group {
      record @9 :Records.OutcomeRecord;
      bytes @10 :Data;
      handed @12 :UInt64;        # not 0: the bytes were handed over under this number (ring.capnp)
    }
    missing @11 :Void;
  }
  forClient @13 :Bool;           # of a Need: nobody but a client asks, for whom nothing is made again that was released
}
