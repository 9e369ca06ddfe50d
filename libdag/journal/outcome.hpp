#pragma once
// The part of a job's events that two runs have in common. Decides which events and which fields of them
// that is.
//
// Compared are, per task and in order, the ends of its tries, the announcement of a retry, its cancelling,
// and the settled outcome. A job whose kernels are deterministic, and in which nothing is lost, has these
// in every run: whatever the order, the number of processes, and whether a task is a bare row or
// supervised.
//
// Not compared: times, durations and pauses (they are measured, or drawn); places and the numbers of attempts
// (an attempt may be returned unrun and given out again); Ready, Placed, Lent, Returned, Stolen, Started and
// Ran, because lanes ready and run bare rows without an event, and only other attempts are lent; Lost,
// StartedOver, RolledBack, Restored, Crashed and OutputLost, because they tell of losses (a failed call loses
// the work of its save group, too); events of a shard or a process. Ids of spawned tasks depend on the order
// of spawning, so Spawned and Became are not compared, nor the text of settled errors, which has such ids;
// their codes are compared. Comparisons of spawned tasks must name them by their parents.

#include "libdag/journal/event.hpp"

namespace dag {

/// True: the event is equal in every run.
bool is_outcome(const JournalEvent& record);
/// The equal part of such an event, in one line.
std::string outcome_text(const JournalEvent& record);

}  // namespace dag
