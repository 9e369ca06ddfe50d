@0xb1a6fd6e2f0c4a01;
# The names of things that live in several processes, as libdag/base/ids.hpp has them. Aliases, not structs: a
# name costs a word and no pointer.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("dag::schema");

using ClusterId = UInt64;
# Drawn at random when a cluster is made. Zero: not known yet (only in a Hello).

using JobId = UInt64;
using Term = UInt32;

using ProcessId = UInt32;
using Incarnation = UInt32;
using Life = UInt64;
# A life of a process: ProcessId in the high half, Incarnation in the low one.

using TaskId = UInt64;
# Origin in the high half (0: the submitted graph; s+1: spawned in shard s), index in the low one.

using Epoch = UInt64;
# Term in the high half, count in that term in the low one.

using AttemptNumber = UInt32;
# With the Epoch that stands beside it: an AttemptId. Epoch 0 and number 0 together: none.

using Nanoseconds = Int64;
