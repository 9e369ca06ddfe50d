#pragma once
// Which rule of a machine of a job is left out on purpose (libdag/base/planted.hpp).

#include <cstdint>

namespace dag {

/// Bugs that the simulator must find (tests/sim): each leaves out one rule.
enum class Planted : std::uint8_t {
  nothing,
  edge_counted_twice,      ///< later news of another shard's row satisfy its edges again
  mismatch_ignored,        ///< rows that used a value which does not count are not run again
  needs_forgotten,         ///< what outcomes rest on in other shards is not named
  not_withdrawn,           ///< outcomes stand although what they rest on came to another attempt
  no_recount,              ///< a new home waits for no report and takes over nothing
  running_twice,           ///< a reported attempt is taken although its inputs are not those that count
  attempt_accepted_twice,  ///< a repeated Lend is run again
  generation_ignored,      ///< an old call is run on a restored actor
  replay_skipped,          ///< a restored actor does not see the calls since its save again
  effects_early,           ///< effects start from inputs that are not settled
  loss_ignored,            ///< attempts at a dead process stay out
  tries_forgotten,         ///< a new home counts failures from zero
  ghost_counted_twice,     ///< the home satisfies again what a lane that heard of an end has satisfied
  digest_waited_for,       ///< the death of who takes a digest does not end the waiting for it
  old_news_by_lanes,       ///< lanes take news of any epoch
  told_twice_by_lanes,     ///< lanes tell a second end of a row as if it were the first
  told_is_told,            ///< a home that lanes told is not told again after it, or the way to it, was lost
  not_said_again,         ///< homes do not repeat to a new leader of the cell what the old one did not record
  overlap_refused,        ///< homes take no Settled that says again what they know
  leader_silent,          ///< a new leader does not say again what the one before it may not have
  leads_too_early,        ///< it answers before what earlier leaders left is applied
  dead_come_back,         ///< a life that the cell found dead is taken again
  unknown_stay,           ///< lives that died before who leads could know them stay members
  snapshot_forgets_said,  ///< a snapshot lacks what was said and not recorded
  snapshot_forgets_dead,  ///< or who has died
  starts_forgotten,       ///< a new home does not know what was started and may run only once
  start_unrecorded,       ///< what may run only once does before that is recorded
  checkpoint_of_other_inputs,  ///< an attempt starts from what another one saved that had other inputs
  gang_goes_on,                ///< who is to start again with a failed member of its group is not stopped
  gang_waits_on,  ///< who waits for a failed member of its group is not looked at again when that may start
  lease_not_waited_for,   ///< exclusive tasks that were lost are started again at once
  lease_not_looked_at,    ///< a process whose lease is over goes on
  stragglers_overlooked,  ///< who is asked for work does not know for how long its lanes have been busy
  fetch_mixes_attempts,   ///< who has no output of the attempt that is asked for gives that of another one
  calls_out_of_order,     ///< two calls of a job actor change places
  orphan_settles,   ///< what an attempt spawned goes on when its parent is run anew, beside what that spawns
  given_up_counts,  ///< what an attempt gives that was lost to its home ends the task in place of the next
                    ///< one
  cut_not_closed,   ///< outcomes are recorded before those that they rest on
  stop_forgotten,   ///< a runner keeps an attempt that was stopped before a lane had begun it
  lease_kept,       ///< a process renews its lease when nothing runs under it any more
};

}  // namespace dag
