#pragma once
// The rules of a home that can be left out on purpose (libdag/base/planted.hpp).

#include <cstdint>

#include "libdag/base/planted.hpp"

namespace dag {

/// Bugs that the simulator must find: each leaves out one rule of homes.
enum class PlantedInHome : std::uint8_t {
  nothing,
  edge_counted_twice,   ///< later news of another shard's row satisfy its edges again
  mismatch_ignored,     ///< rows that used a value which does not count are not run again
  needs_forgotten,      ///< needs of outcomes in other shards are not named
  not_withdrawn,        ///< outcomes stand although a predecessor came to another attempt
  no_recount,           ///< a new home waits for no report and takes over nothing
  running_twice,        ///< a reported attempt is taken although its inputs do not count
  replay_skipped,       ///< a restored actor does not see the calls since its save again
  effects_early,        ///< effects start from inputs that are not settled
  loss_ignored,         ///< attempts at a dead process stay out
  tries_forgotten,      ///< a new home counts failures from zero
  ghost_counted_twice,  ///< the home satisfies again an edge that a lane told of an end has satisfied
  digest_waited_for,    ///< the death of the digest's taker does not end the waiting for it
  told_twice_by_lanes,  ///< lanes tell a second end of a row as if it were the first
  told_is_told,         ///< a home that lanes told is not told again after it, or the way to it, was lost
  not_said_again,       ///< homes do not repeat to a new leader what the old one may not have settled
  overlap_refused,      ///< homes take no Settled that repeats outcomes they know
  starts_forgotten,     ///< a new home does not know which tasks that may run only once were started
  start_unsettled,      ///< a task that may run only once starts before that is settled
  checkpoint_of_other_inputs,  ///< an attempt starts from a state that was saved with other inputs
  gang_goes_on,                ///< a member that is to restart with a failed one is not stopped
  gang_waits_on,  ///< a member that waits for a failed one is not looked at again when that one may start
  lease_not_waited_for,  ///< lost exclusive tasks are started again at once
  calls_out_of_order,    ///< two calls of a job actor change places
  orphan_settles,        ///< spawned tasks go on when their parent is run anew, beside those it then spawns
  words_not_closed,      ///< a row that is told by a word is told before what it rests on
  given_up_counts,  ///< what an attempt gives that was lost to its home ends the task in place of the next
                    ///< one
};

}  // namespace dag
