#include "tools/sim/mutants.hpp"

#include "tools/sim/chaos.hpp"
#include "tools/sim/log_world.hpp"

namespace dag::sim {

const std::vector<Mutant>& mutants() {
  static const std::vector<Mutant> all = [] {
    std::vector<Mutant> list;
    // Not no_recount: reports that nobody waited for are merged when they come, so it costs attempts that
    // would have been taken over, and nothing else (tests/unit/home/losses_test.cpp).
#define IN(machine, bugs, bug, world) list.push_back({#bug, world, {.machine = bugs::bug}})
    IN(home, PlantedInHome, edge_counted_twice, "jobs");
    IN(home, PlantedInHome, mismatch_ignored, "jobs");
    IN(home, PlantedInHome, needs_forgotten, "jobs");
    IN(home, PlantedInHome, not_withdrawn, "jobs");
    IN(home, PlantedInHome, running_twice, "jobs");
    IN(runner, PlantedInRunner, attempt_accepted_twice, "jobs");
    list.push_back(
        {"generation_ignored",
         "jobs",
         {.runner = PlantedInRunner::generation_ignored, .lanes = PlantedInLanes::generation_ignored}});
    IN(home, PlantedInHome, replay_skipped, "jobs");
    IN(home, PlantedInHome, effects_early, "jobs");
    IN(home, PlantedInHome, loss_ignored, "jobs");
    IN(home, PlantedInHome, tries_forgotten, "jobs");
    IN(home, PlantedInHome, ghost_counted_twice, "jobs");
    IN(home, PlantedInHome, digest_waited_for, "jobs");
    list.push_back({"old_news_by_lanes", "jobs", {.lanes = PlantedInLanes::old_news}});
    IN(home, PlantedInHome, told_twice_by_lanes, "jobs");
    IN(home, PlantedInHome, told_is_told, "jobs");
    IN(home, PlantedInHome, starts_forgotten, "jobs");
    IN(home, PlantedInHome, start_unsettled, "jobs");
    IN(home, PlantedInHome, checkpoint_of_other_inputs, "jobs");
    IN(home, PlantedInHome, lease_not_waited_for, "jobs");
    IN(runner, PlantedInRunner, lease_not_looked_at, "jobs");
    IN(home, PlantedInHome, gang_goes_on, "jobs");
    IN(home, PlantedInHome, gang_waits_on, "jobs");
    IN(lanes, PlantedInLanes, stragglers_overlooked, "jobs");
    IN(runner, PlantedInRunner, fetch_mixes_attempts, "jobs");
    IN(home, PlantedInHome, calls_out_of_order, "jobs");
    IN(home, PlantedInHome, orphan_settles, "jobs");
    IN(home, PlantedInHome, given_up_counts, "jobs");
    IN(home, PlantedInHome, words_not_closed, "jobs");
    IN(cell, PlantedInCell, cut_not_closed, "jobs");
    IN(runner, PlantedInRunner, stop_forgotten, "jobs");
    IN(runner, PlantedInRunner, lease_kept, "jobs");
    IN(home, PlantedInHome, not_said_again, "cells");
    IN(home, PlantedInHome, overlap_refused, "cells");
    IN(cell, PlantedInCell, leader_silent, "cells");
    IN(replica, PlantedInReplica, leads_too_early, "cells");
    IN(cell, PlantedInCell, dead_come_back, "cells");
    IN(replica, PlantedInReplica, unknown_stay, "cells");
    IN(cell, PlantedInCell, snapshot_forgets_said, "cells");
    IN(cell, PlantedInCell, snapshot_forgets_dead, "cells");
#undef IN
#define IN_LOG(bug) list.push_back({#bug, "log", {.log = consensus::Planted::bug}})
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
#define INSIDE(machine, bugs, bug, world) list.push_back({#bug, world, {.machine = bugs::bug}, {}, true})
    INSIDE(runner, PlantedInRunner, released_bytes_counted, "jobs");
    INSIDE(runner, PlantedInRunner, stopped_attempt_waits, "jobs");
    INSIDE(cell, PlantedInCell, settled_tries_kept, "cells");
    INSIDE(replica, PlantedInReplica, known_deaths_kept, "cells");
    INSIDE(log, consensus::Planted, flight_counted_twice, "log");
#undef INSIDE
    return list;
  }();
  return all;
}

std::optional<Found> find(const Mutant& mutant, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ChaosOptions options;
    options.planted = mutant.planted;
    options.cells = mutant.world == "cells";
    const ChaosResult result = mutant.run              ? mutant.run(seed)
                               : mutant.world == "log" ? log_chaos(seed, mutant.planted.log)
                                                       : chaos(seed, options);
    if (!result.violation.empty()) return Found{seed, result.violation};
  }
  return std::nullopt;
}

}  // namespace dag::sim
