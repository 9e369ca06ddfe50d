#pragma once
// The whole state of a cell as a value: a replica that joins late begins with it, instead of all
// commands.

#include "libdag/cell/command.hpp"

namespace dag {

/// Progress of the job, for `dag ls`.
struct CellCounts {
  std::uint64_t settled = 0;  ///< rows, spawned ones included
  std::uint64_t open = 0;     ///< rows known and not settled
  std::uint64_t finished = 0, failed = 0, skipped = 0, cancelled = 0;
  std::uint64_t tolerated = 0;  ///< of `failed`: every successor accepts any outcome
  std::uint64_t missed = 0;     ///< of `skipped`: an input was missing because a task had failed

  /// Failures with which the job can finish. A quorum that was not reached tolerates none.
  std::uint64_t failures_tolerated() const { return missed == 0 ? tolerated : 0; }
  bool well() const { return failed == failures_tolerated() && cancelled == 0; }
};

/// An outcome and its home.
struct SettledOutcome {
  OutcomeRecord record;
  Life home;  ///< of the shard when it was settled: knows the holders. Of one that only grew it means
              ///< nothing.
};

struct ShardSnapshot {
  std::uint64_t position = 0;  ///< of the newest Settled sent to the home
  std::uint64_t outcomes = 0;  ///< number of the newest Outcomes heard in this epoch
  std::uint64_t rows_open = 0;
  bool heard = false;
  std::uint64_t steps = 0;                 ///< settled steps of the present home
  std::vector<message::Outcomes> waiting;  ///< reported and not settled: from step `steps` on
  std::vector<SettledOutcome>
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
  std::vector<TaskId> started;  ///< tasks whose start is settled, and that are not settled
  std::vector<Life> gone;       ///< the newest dead life of each process
  std::vector<Life> closed;     ///< members when the job was closed
  CellCounts counts;
  bool done = false;
  Blob attached = {};  ///< the creator's; the cell does not look
  /// The job whose unfinished tasks this job runs again (cell/retried.hpp). Before the begin its homes are no
  /// lives, with the epochs of that job's last homes.
  JobId retries = {};
};

/// Initial state of a job.
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
