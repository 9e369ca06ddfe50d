#pragma once
// A TaskActor lives for one attempt that needs supervision: it has a lane run the kernel, and when the
// attempt is late, or nobody waits for it any more, it sees to it that the lane comes free: first by
// Context::cancelled, then, after a grace, by giving the lane up.
//
// The timeout counts from when the kernel begins: what waits for a lane is not late.
//
// The owner hears that the attempt has ended when its kernel has returned: then the next one is never beside
// it. A kernel that does not return within the grace is not waited for if that does no harm (Attempt::
// may_overlap), or if no attempt comes after it and it is not exclusive. One that is waited for is stuck
// after some time more (LanesPort::stuck), and so is an exclusive one that has left processes: a worker
// process ends then, and the next attempt begins when nothing is left of it. Commands have returned by then:
// what ignores SIGTERM is killed after the same grace.
//
// Linked to its owner: when the home or runner goes, so does it, and tells the kernel.
//
// Messages: in AttemptBegan, AttemptEnded (from the lane), StopTask (from its owner); out AttemptEnded (to
// its owner), once, with which it ends.

#include <atomic>
#include <functional>
#include <memory>

#include "actors/lanes/lanes_port.hpp"
#include "actors/mail.hpp"

namespace dag {

struct TaskSupervision {
  Attempt attempt;
  Priority priority = Priority::normal;
  /// How long a kernel that was told to stop may take to return.
  Duration grace = std::chrono::seconds(2);
  /// And so long after that it is stuck, if somebody waits for it.
  Duration stuck_after = std::chrono::seconds(5);
};

/// Hands the states that an attempt saves to whoever had it run; empty when it saves none.
std::function<void(Saved&&)> keeper_of(const Attempt& attempt, const caf::actor& owner);

class TaskActor : public caf::event_based_actor {
 public:
  TaskActor(caf::actor_config& config, TaskSupervision task, LanesPort& lanes, caf::actor owner);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.task"; }

 private:
  /// Nobody wants what the kernel leaves from now on: `end` is what the owner hears instead.
  void stop_kernel(Ended end);
  void on_late();
  void on_deaf();
  void on_stuck();
  void on_returned(mail::AttemptEnded& end);
  std::function<void(Ended&&)> done();
  void say_end(Ended end, std::shared_ptr<const void> credit = {});

  TaskSupervision task_;
  JobId job_;
  TaskId id_;
  AttemptId attempt_;
  std::optional<Duration> timeout_;
  bool exclusive_;
  bool last_try_;
  bool waits_for_deaf_;
  bool given_up_ = false;
  /// Written by the lane of an exclusive one that has not done well, before the end is told.
  std::shared_ptr<std::atomic<bool>> left_processes_ = std::make_shared<std::atomic<bool>>(false);
  LanesPort& lanes_;
  caf::actor owner_;
  /// The end that is said when a kernel that was told to stop has returned.
  std::optional<Ended> stopped_;
};

}  // namespace dag
