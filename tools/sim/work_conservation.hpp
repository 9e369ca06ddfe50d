#pragma once
// I13: no work waits for long beside an idle lane that could run it. Worlds report waiting work and free
// lanes now and then; it is a violation if work waits in all of these looks, for too long, beside a lane that
// was free in all of them.

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"

namespace dag::sim {

/// The bound of I13. A thief asks each of six others in turn, each question is open for 5 ms and the
/// pauses between them grow to 100 ms: it has met everybody three times by then.
constexpr Duration work_waits_max = std::chrono::seconds(2);

/// An attempt, or a row that will be one, for which no kernel has begun.
struct WaitingWork {
  Life at;
  JobId job;
  TaskId task;
  AttemptId attempt;
  /// No other process may run it: calls of job actors, work under a lease, and remaking of a lost
  /// output.
  bool stays = false;
  /// Nor does that one, which has the record: it may take a process down.
  std::optional<Life> not_at = {};
};
/// A process with a lane that runs nothing.
struct FreeLane {
  Life at;
  JobId job;      ///< whose work it may run
  Instant since;  ///< nothing began or ended there
};

class WorkConservation {
 public:
  /// Something happened that takes time to be over: a life began or ended, a network was cut or mended.
  void disturbed(Instant now) { quiet_since_ = now; }
  /// The violation in words, if there is one.
  std::optional<std::string> look(Instant now, const std::vector<WaitingWork>& waiting,
                                  const std::vector<FreeLane>& free);

 private:
  using Key = std::tuple<Life, JobId, TaskId, AttemptId>;

  Instant quiet_since_;
  std::map<Key, Instant> waiting_since_;
};

}  // namespace dag::sim
