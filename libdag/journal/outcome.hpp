#pragma once
// What two runs of one job have in common in their records. Decides which records and which parts of them
// that is.
//
// Compared are, per task and in their order, the ends of its tries, the word that there will be another, its
// cancelling, and the settled outcome. A job whose kernels give the same for the same inputs, and in which
// nothing is lost, has these in every run: whatever the order, the number of processes, and whether a task is
// a bare row or supervised.
//
// Not compared: times, durations and pauses (they are measured, or drawn); places and the numbers of attempts
// (an attempt may be returned unrun and given out again); Ready, Placed, Lent, Returned, Stolen, Started and
// Ran, because lanes ready and run bare rows without a word, and only other attempts are lent; Lost,
// StartedOver, RolledBack, Restored, Crashed and OutputLost, because they tell of losses (of a failed call
// too: what its save group had under way is lost); what concerns a shard or a process. Ids of spawned tasks
// depend on the order of spawning, so Spawned and Became are not compared, nor the text of settled errors,
// which names such ids; their codes are. Who compares spawned tasks calls them by what spawned them.

#include "libdag/journal/record.hpp"

namespace dag {

/// Whether the record is of those that are equal in every run.
bool is_outcome(const Record& record);
/// The part of such a record that is equal in every run, in one line.
std::string outcome_text(const Record& record);

}  // namespace dag
