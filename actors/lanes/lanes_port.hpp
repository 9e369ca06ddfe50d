#pragma once
// The actors' interface to the lanes of their process. `Lanes` has threads; a simulation of whole nodes
// (tools/sim/actors) plays lanes in virtual time.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/lanes/job_actors.hpp"
#include "actors/lanes/lane_shard.hpp"
#include "actors/lanes/spawn_credits.hpp"
#include "libdag/job/attempt.hpp"
#include "libdag/job/explained.hpp"

namespace dag {

class LanesPort {
 public:
  LanesPort() = default;
  virtual ~LanesPort() = default;
  LanesPort(const LanesPort&) = delete;
  LanesPort& operator=(const LanesPort&) = delete;

  /// A row became ready outside of the lanes.
  virtual void make_ready(LaneShard& shard, RowIndex row, Priority band) = 0;
  /// Runs a handed-out attempt; `done` gets its end, on a lane, and must not block: also of an attempt whose
  /// lane was abandoned. `saved` gets the states that it saves meanwhile, likewise. `began` is called when
  /// its kernel begins, if it ever does.
  virtual void start(Attempt attempt, Priority band, std::function<void(AttemptEnd&&)> done,
                     std::function<void(Saved&&)> saved = {}, std::function<void()> began = {}) = 0;
  /// The kernel of this attempt sees `cancelled` from now on. A kernel that has not started never does, and
  /// `done` gets a cancelled end: at once, if the attempt waits for a lane.
  virtual void cancel(JobId job, TaskId task, AttemptId attempt) = 0;
  /// The kernel of this attempt did not return in time: its lane is given up and replaced, so that others can
  /// run. True when such a lane was found. The thread itself ends when the kernel returns, if ever, and says
  /// so by `done`.
  virtual bool abandon(JobId job, TaskId task, AttemptId attempt) = 0;
  /// Called by a lane's thread whose kernel has just returned (`done`). True: processes that it started may
  /// be left.
  virtual bool left_processes() const { return false; }
  /// The next attempt of this task would run beside leftovers of this one, a kernel that does not return or
  /// processes: as LaneEvents::stuck. Returns where the process cannot end for that.
  virtual void stuck(const OutputName&, bool /*charged*/, const std::string& /*why*/) {}
  /// Ready rows that no lane has claimed, oldest first, for another process.
  virtual std::vector<RowIndex> take_rows(const LaneShard& shard, std::size_t count) = 0;
  /// Attempts that were dispatched, that no lane has begun and that may go, oldest first, for another
  /// process: they are not run here, and nothing is said of their end.
  virtual std::vector<OutputName> take_attempts(JobId job, std::size_t count,
                                                const std::function<bool(const OutputName&)>& may_go) = 0;
  /// LaneEvents::dry is wanted, once, when a lane finds nothing to do.
  virtual void tell_when_dry() = 0;

  /// The shard's home has begun: lanes may hear of ends for it. Until retire().
  virtual void add_shard(LaneShard& shard) = 0;
  /// No row of this shard may run any more. The shard is destroyed when no lane can reach it.
  virtual void retire(std::shared_ptr<LaneShard> shard) = 0;
  /// The lives that lanes can tell of ends through memory, and whether all others by links.
  virtual std::vector<Life> reach() const = 0;
  virtual bool tells_by_link() const = 0;

  /// The rows and attempts that lanes run now. Empty where this is not noted.
  virtual std::vector<RunningNow> running_now() const { return {}; }
  /// Tasks of the job that wait for a lane, and the approximate place of each in the queue, from 1: the first
  /// places_max places.
  virtual std::map<TaskId, std::uint64_t> places(JobId) const { return {}; }
  /// True: an attempt that must run alone (alone_turn.hpp) runs here or waits for its turn.
  virtual bool stand_aside() const { return false; }
  virtual JobActors& actors() = 0;
  /// Shared, since credit that lanes have taken may outlive them.
  virtual const std::shared_ptr<SpawnCredits>& spawn_credits() = 0;
  virtual std::size_t count() const = 0;
  /// Work that is queued and not running, over all lanes.
  virtual std::size_t queued() const = 0;
  /// Lanes that sleep and were not called.
  virtual std::uint32_t idle() const = 0;
  /// Idle lanes, and lanes that look for work or were called to.
  virtual std::uint32_t dry() const = 0;
};

}  // namespace dag
