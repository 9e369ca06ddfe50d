#pragma once
// What a job begins with that retries another one: what is done there, so that only the rest runs. Decides
// which tasks are done, and which of their outputs are there.
//
// A task is done when it finished, or was skipped because a condition was not met, and all that it waited for
// is done. So whatever rests on a task that runs again runs again, too: what was made of a tolerated failure
// is made anew. A task that spawned others is done with all of them, or runs again and spawns anew. Calls of
// a job actor, of those that are saved with it, and tasks that were handed it run again together, from its
// creation; so do members of a group that start again with each other.
//
// Outputs of done tasks are there as far as the record has them, or whoever asks holds them. Others were
// released: one that is read again is made again by its home, as after a loss (home/lineage.cpp). Of a task
// that must not run beside what was made of its first value (it varies, has an effect once, spawned others,
// is of a group or a job actor) that would be wrong, so it runs again with all that rests on it.

#include <map>
#include <vector>

#include "libdag/cell/snapshot.hpp"

namespace dag {

/// Outputs of a job that has ended, by task of its graph.
using OutputsHeld = std::map<std::uint32_t, Blob>;

struct Retried {
  /// Of an output that the record is too small for: whoever has the bytes offers them under this record.
  struct Held {
    OutcomeRecord record;
    Blob bytes;
  };
  CellSnapshot genesis;
  std::vector<bool> done;  ///< per task of the graph
  std::vector<Held> held;
};

/// `job` retries the one that came to `ended`, of whose outputs `outputs` are held elsewhere.
Retried retried(const CellSnapshot& ended, JobId job, const OutputsHeld& outputs);

}  // namespace dag
