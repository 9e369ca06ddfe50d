#include "tools/sim/mutants.hpp"

#include "tools/sim/chaos.hpp"
#include "tools/sim/log_world.hpp"

namespace dag::sim {

const std::vector<Mutant>& mutants() {
  static const std::vector<Mutant> all = [] {
    std::vector<Mutant> list;
    // Not no_recount: reports that nobody waited for are merged when they come, so it costs attempts that
    // would have been taken over, and nothing else (tests/unit/home/losses_test.cpp).
#define IN_JOBS(bug) list.push_back({#bug, "jobs", Planted::bug, consensus::Planted::nothing, {}})
    IN_JOBS(edge_counted_twice);
    IN_JOBS(mismatch_ignored);
    IN_JOBS(needs_forgotten);
    IN_JOBS(not_withdrawn);
    IN_JOBS(running_twice);
    IN_JOBS(attempt_accepted_twice);
    IN_JOBS(generation_ignored);
    IN_JOBS(replay_skipped);
    IN_JOBS(effects_early);
    IN_JOBS(loss_ignored);
    IN_JOBS(tries_forgotten);
    IN_JOBS(ghost_counted_twice);
    IN_JOBS(digest_waited_for);
    IN_JOBS(old_news_by_lanes);
    IN_JOBS(told_twice_by_lanes);
    IN_JOBS(told_is_told);
    IN_JOBS(starts_forgotten);
    IN_JOBS(start_unrecorded);
    IN_JOBS(checkpoint_of_other_inputs);
    IN_JOBS(lease_not_waited_for);
    IN_JOBS(lease_not_looked_at);
    IN_JOBS(gang_goes_on);
    IN_JOBS(gang_waits_on);
    IN_JOBS(stragglers_overlooked);
    IN_JOBS(fetch_mixes_attempts);
    IN_JOBS(calls_out_of_order);
    IN_JOBS(orphan_settles);
    IN_JOBS(given_up_counts);
    IN_JOBS(cut_not_closed);
    IN_JOBS(stop_forgotten);
    IN_JOBS(lease_kept);
#undef IN_JOBS
#define IN_CELLS(bug) list.push_back({#bug, "cells", Planted::bug, consensus::Planted::nothing, {}})
    IN_CELLS(not_said_again);
    IN_CELLS(overlap_refused);
    IN_CELLS(leader_silent);
    IN_CELLS(leads_too_early);
    IN_CELLS(dead_come_back);
    IN_CELLS(unknown_stay);
    IN_CELLS(snapshot_forgets_said);
    IN_CELLS(snapshot_forgets_dead);
#undef IN_CELLS
#define IN_LOG(bug) list.push_back({#bug, "log", Planted::nothing, consensus::Planted::bug, {}})
    IN_LOG(vote_before_written);
    IN_LOG(ack_before_written);
    IN_LOG(own_disk_not_waited_for);
    IN_LOG(minority_settles);
    IN_LOG(older_terms_settle);
    IN_LOG(any_log_gets_votes);
    IN_LOG(votes_twice);
    IN_LOG(appends_truncate);
    IN_LOG(old_leaders_heard);
    IN_LOG(changes_overlap);
    IN_LOG(changes_at_once);
    IN_LOG(learners_vote);
    IN_LOG(new_disk_votes);
    IN_LOG(snapshot_forgets_who);
    IN_LOG(snapshot_cuts_settled);
    IN_LOG(vote_forgotten);
    IN_LOG(older_terms_answered);
    IN_LOG(reads_unconfirmed);
    IN_LOG(removed_does_not_lead);
    IN_LOG(empty_does_not_vote);
    IN_LOG(silence_not_noticed);
    IN_LOG(told_is_elected);
    IN_LOG(hands_over_early);
    IN_LOG(hands_over_for_ever);
#undef IN_LOG
#define INSIDE(bug, world) list.push_back({#bug, world, Planted::bug, consensus::Planted::nothing, {}, true})
    INSIDE(released_bytes_counted, "jobs");
    INSIDE(stopped_attempt_waits, "jobs");
    INSIDE(settled_tries_kept, "cells");
    INSIDE(known_deaths_kept, "cells");
#undef INSIDE
    list.push_back({"flight_counted_twice",
                    "log",
                    Planted::nothing,
                    consensus::Planted::flight_counted_twice,
                    {},
                    true});
    return list;
  }();
  return all;
}

std::optional<Found> find(const Mutant& mutant, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ChaosOptions options;
    options.planted = mutant.in_jobs;
    options.cells = mutant.world == "cells";
    const ChaosResult result = mutant.run              ? mutant.run(seed)
                               : mutant.world == "log" ? log_chaos(seed, mutant.in_log)
                                                       : chaos(seed, options);
    if (!result.violation.empty()) return Found{seed, result.violation};
  }
  return std::nullopt;
}

}  // namespace dag::sim
