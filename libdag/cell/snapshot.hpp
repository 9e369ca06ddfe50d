#pragma once
// All that a cell knows, as one value: what a replica that comes late begins with, instead of everything that
// the others were told.

#include "libdag/cell/command.hpp"

namespace dag {

/// How far the job is, for `dag ls`.
struct CellCounts {
  std::uint64_t settled = 0;  ///< rows, spawned ones included
  std::uint64_t open = 0;     ///< rows known and not settled
  std::uint64_t finished = 0, failed = 0, skipped = 0, cancelled = 0;
  std::uint64_t tolerated = 0;  ///< of `failed`: every successor waits for any outcome
  std::uint64_t missed = 0;     ///< of `skipped`: an input was missing because a task had failed

  /// Failures that the job finishes with. A quorum that was not reached tolerates none.
  std::uint64_t failures_tolerated() const { return missed == 0 ? tolerated : 0; }
  bool well() const { return failed == failures_tolerated() && cancelled == 0; }
};

/// Where a task's outcome came from, too.
struct RecordedOutcome {
  OutcomeRecord record;
  Life home;  ///< of the shard when it was recorded: knows the holders. Of one that only grew it means
              ///< nothing.
};

struct ShardSnapshot {
  std::uint64_t position = 0;  ///< of the newest Settled sent to the home
  std::uint64_t outcomes = 0;  ///< number of the newest Outcomes heard in this epoch
  std::uint64_t rows_open = 0;
  bool heard = false;
  std::uint64_t steps = 0;                 ///< of the present home, recorded
  std::vector<message::Outcomes> waiting;  ///< said and not recorded: from step `steps` on
  std::vector<RecordedOutcome>
      settled;  ///< in the order of settling; what grew before it ended is there twice
};

struct CellSnapshot {
  std::shared_ptr<const JobPlan> plan;
  bool leaders_run = true;
  std::uint32_t replicas = 1;
  message::JobState state;  ///< version 0: the job has not begun
  std::vector<ShardSnapshot> shards;
  std::vector<message::FirstTry> first_try;
  std::vector<message::Tried> tried;
  std::vector<TaskId> kept, cancelled;
  std::vector<TaskId> started;  ///< of those whose starts are recorded, and not settled
  std::vector<Life> gone;       ///< of each process that died, the newest life that did
  std::vector<Life> closed;     ///< who took part when the job was closed
  CellCounts counts;
  bool done = false;
  Blob attached = {};  ///< of whoever began it; the cell does not look
  /// The job of which it runs again what did not finish (cell/retried.hpp). Not begun, it has homes that are
  /// nobody then, with the epochs of the last ones of that job.
  JobId retries = {};
};

/// Of a job that has not begun.
inline CellSnapshot genesis_of(std::shared_ptr<const JobPlan> plan, bool leaders_run,
                               std::uint32_t replicas) {
  CellSnapshot genesis;
  genesis.shards.resize(plan->shards);
  genesis.plan = std::move(plan);
  genesis.leaders_run = leaders_run;
  genesis.replicas = replicas;
  return genesis;
}

}  // namespace dag
