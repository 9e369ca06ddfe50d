#pragma once
// The rules of the machines of a job that can be left out on purpose (libdag/base/planted.hpp).

#include <cstdint>

namespace dag {

/// Bugs that the simulator must find (tests/sim): each leaves out one rule.
enum class Planted : std::uint8_t {
  nothing,
  edge_counted_twice,      ///< later news of another shard's row satisfy its edges again
  mismatch_ignored,        ///< rows that used a value which does not count are not run again
  needs_forgotten,         ///< needs of outcomes in other shards are not named
  not_withdrawn,           ///< outcomes stand although a predecessor came to another attempt
  no_recount,              ///< a new home waits for no report and takes over nothing
  running_twice,           ///< a reported attempt is taken although its inputs do not count
  attempt_accepted_twice,  ///< a repeated Lend is run again
  generation_ignored,      ///< an old call is run on a restored actor
  replay_skipped,          ///< a restored actor does not see the calls since its save again
  effects_early,           ///< effects start from inputs that are not settled
  loss_ignored,            ///< attempts at a dead process stay out
  tries_forgotten,         ///< a new home counts failures from zero
  ghost_counted_twice,     ///< the home satisfies again an edge that a lane told of an end has satisfied
  digest_waited_for,       ///< the death of the digest's taker does not end the waiting for it
  old_news_by_lanes,       ///< lanes take news of any epoch
  told_twice_by_lanes,     ///< lanes tell a second end of a row as if it were the first
  told_is_told,            ///< a home that lanes told is not told again after it, or the way to it, was lost
  not_said_again,          ///< homes do not repeat to a new leader what the old one may not have recorded
  overlap_refused,         ///< homes take no Settled that repeats outcomes they know
  leader_silent,           ///< a new leader does not repeat what the former one may have left unsaid
  leads_too_early,         ///< a leader answers before entries of earlier leaders are applied
  dead_come_back,          ///< a life that the cell found dead is taken again
  unknown_stay,            ///< lives that died before the leader could know them stay members
  snapshot_forgets_said,   ///< a snapshot lacks reports that are not recorded yet
  snapshot_forgets_dead,   ///< a snapshot lacks the dead
  starts_forgotten,        ///< a new home does not know which tasks that may run only once were started
  start_unrecorded,        ///< a task that may run only once starts before that is recorded
  checkpoint_of_other_inputs,  ///< an attempt starts from a state that was saved with other inputs
  gang_goes_on,                ///< a member that is to restart with a failed one is not stopped
  gang_waits_on,  ///< a member that waits for a failed one is not looked at again when that one may start
  lease_not_waited_for,   ///< lost exclusive tasks are started again at once
  lease_not_looked_at,    ///< a process whose lease is over goes on
  stragglers_overlooked,  ///< a process asked for work does not know for how long its lanes have been busy
  fetch_mixes_attempts,   ///< a process without the output that is asked for gives that of another attempt
  calls_out_of_order,     ///< two calls of a job actor change places
  orphan_settles,         ///< spawned tasks go on when their parent is run anew, beside those it then spawns
  given_up_counts,  ///< what an attempt gives that was lost to its home ends the task in place of the next
                    ///< one
  cut_not_closed,   ///< outcomes are recorded before their predecessors
  stop_forgotten,   ///< a runner keeps an attempt that was stopped before a lane had begun it
  lease_kept,       ///< a process renews its lease when nothing runs under it any more
  // Only the machine's own check_invariants sees these.
  released_bytes_counted,  ///< bytes of released outputs count as held
  stopped_attempt_waits,   ///< a stopped attempt goes on waiting for its inputs
  settled_tries_kept,      ///< the cell remembers tries and starts of tasks that are settled
  known_deaths_kept,       ///< a copy keeps ends of lives that its cell has buried
};

}  // namespace dag
