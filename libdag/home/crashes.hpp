#pragma once
// Tasks that took processes down, or may have: where they may still run, and the texts for people. Homes die
// of such tasks, too, so the cell counts the deaths, and the job's state names them (supervision/blame.hpp).
// How many tries they have left is in retries.hpp.

#include <string>
#include <vector>

#include "libdag/home/home_rows.hpp"
#include "libdag/job/messages.hpp"

namespace dag {

class Crashes {
 public:
  /// `places`: the lives that run tasks, sorted.
  Crashes(const HomeRows& rows, const message::JobState& state, const std::vector<Life>& places,
          const JobPlan& plan)
      : rows_(rows), state_(state), places_(places), plan_(plan) {}

  /// Tries of the row that took their process down.
  std::uint32_t times(RowIndex row) const;
  /// Deaths of processes that it may have caused, and nobody knows.
  std::uint32_t suspicions(RowIndex row) const;
  /// True: the task has crashed a process, or may have.
  bool is_dangerous(RowIndex row) const { return times(row) > 0 || suspicions(row) > 0; }

  // ---- Where it may run
  /// A task that took processes down, or may have, runs alone so that it takes no other task along. But
  /// members of a group wait for each other, so they run in company.
  bool runs_alone(RowIndex row) const;
  /// True: the task is dangerous, and there are others than the process that has the record.
  bool keeps_away_from_the_record(RowIndex row) const;
  /// The last process has the record and the client. A first suspicion does not count: tasks that ran beside
  /// the guilty one are suspects, too, and all are when an operator has killed the process.
  bool would_take_the_last_one(RowIndex row) const;
  /// A spawned task of this shard took its process down, and its spawning is lost. Spawned anew it would have
  /// another id and be charged for the first time, again and again. So once that has happened, spawned tasks
  /// wait until their spawning is settled.
  bool lost_a_spawned_one() const { return lost_a_spawned_one_; }
  /// The state names other tasks.
  void state_changed(std::uint32_t own_shard);

  // ---- Texts
  std::string why_alone(RowIndex row) const;
  /// The error of a row that crashed too often.
  Error too_often_error(RowIndex row) const;
  /// The error of a row that would take the last process.
  Error last_one_error(RowIndex row) const;

 private:
  const HomeRows& rows_;
  const message::JobState& state_;
  const std::vector<Life>& places_;
  const JobPlan& plan_;
  bool lost_a_spawned_one_ = false;
};

}  // namespace dag
