#pragma once
// A TaskActor lives for one attempt that needs supervision: it has a lane run the kernel. When the attempt is
// late, or not needed any more, it frees the lane: first by Context::cancelled, then, after a grace, by
// giving the lane up.
//
// The timeout counts from when the kernel begins: what waits for a lane is not late.
//
// The owner hears that the attempt has ended when its kernel has returned: so the next attempt never runs
// beside it. A kernel that does not return within the grace is not waited for if that does no harm
// (Attempt::may_overlap), or if no attempt comes after it and it is not exclusive. A kernel that is waited
// for is stuck after some time more (LanesPort::stuck), and so is an exclusive one that has left processes: a
// worker process ends then, and the next attempt begins when nothing is left of it. Commands have returned by
// then: a command that ignores SIGTERM is killed after the same grace.
//
// Linked to its owner: when the JobHereActor goes, it goes too, and tells the kernel.
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
  /// Time after the grace until a kernel that somebody waits for is stuck.
  Duration stuck_after = std::chrono::seconds(5);
};

/// Hands the states that an attempt saves to its owner; empty when it saves none.
std::function<void(Saved&&)> keeper_of(const Attempt& attempt, const caf::actor& owner);

class TaskActor : public caf::event_based_actor {
 public:
  TaskActor(caf::actor_config& config, TaskSupervision task, LanesPort& lanes, caf::actor owner);
  caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "dag.task"; }

 private:
  /// The kernel's results are not needed from now on: the owner gets `end` instead.
  void stop_kernel(AttemptEnd end);
  void on_late();
  void on_deaf();
  void on_stuck();
  void on_returned(mail::AttemptEnded& end);
  std::function<void(AttemptEnd&&)> done();
  void say_end(AttemptEnd end, std::shared_ptr<const void> credit = {});

  TaskSupervision task_;
  JobId job_;
  TaskId id_;
  AttemptId attempt_;
  std::optional<Duration> timeout_;
  bool exclusive_;
  bool last_try_;
  bool waits_for_deaf_;
  bool given_up_ = false;
  /// Written by the lane of an exclusive attempt that did not finish, before the end is told.
  std::shared_ptr<std::atomic<bool>> left_processes_ = std::make_shared<std::atomic<bool>>(false);
  LanesPort& lanes_;
  caf::actor owner_;
  /// The end to be told when a stopped kernel has returned.
  std::optional<AttemptEnd> stopped_;
};

}  // namespace dag
