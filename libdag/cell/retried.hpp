#pragma once
// Initial state of a job that retries another: the done tasks of that job, so that only the rest runs.
// Decides which tasks are done, and which of their outputs are available.
//
// A task is done when it finished, or was skipped because a condition was not met, and all its predecessors
// are done. So successors of a task that runs again run again, too: the output computed from a tolerated
// failure is computed anew. A task that spawned others is done with all of them, or runs again and spawns
// anew. Calls of a job actor, of the actors that are saved with it, and tasks that were handed it run again
// together, from its creation; so do members of a group that restart with each other.
//
// Outputs of done tasks are available if the record or the caller holds them. Others were released: if such
// an output is read again, its home makes it again, as after a loss (home/lineage.cpp). That is wrong for a
// task that must not run beside users of its first value (it varies, has an effect once, spawned others, is
// of a group or a job actor): such a task runs again with all its successors.

#include <map>
#include <vector>

#include "libdag/cell/snapshot.hpp"

namespace dag {

/// Outputs of an ended job, by task of its graph.
using OutputsHeld = std::map<std::uint32_t, Blob>;

struct Retried {
  /// An output too large for the record: a holder of the bytes offers them under this record.
  struct Held {
    OutcomeRecord record;
    Blob bytes;
  };
  CellSnapshot genesis;
  std::vector<bool> done;  ///< per task of the graph
  std::vector<Held> held;
};

/// Initial state of `job`, a retry of the job that came to `ended`. `outputs` are outside the record.
Retried retried(const CellSnapshot& ended, JobId job, const OutputsHeld& outputs);

}  // namespace dag
