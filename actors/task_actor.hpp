#pragma once
// A TaskActor lives for one attempt that needs supervision: it has a lane run the kernel, and when nobody
// waits for the attempt any more it sees to it that the lane comes free: first by Context::cancelled, then,
// after a grace, by giving the lane up. An exclusive attempt that is late is told so, and waited for: it has
// not ended before its kernel has.
//
// Linked to its owner: when the home or runner goes, so does it, and tells the kernel.
//
// Messages: in AttemptEnded (from the lane), StopTask (from its owner); out AttemptEnded (to its owner,
// unless stopped). It ends with the kernel, or with the grace, whichever is first.

#include "actors/lanes/lanes_port.hpp"
#include "actors/mail.hpp"

namespace dag {

struct TaskSupervision {
  Attempt attempt;
  Priority priority = Priority::normal;
  /// How long a kernel that was told to stop may take to return.
  Duration grace = std::chrono::seconds(2);
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
  /// Nobody waits for the kernel from now on.
  void let_go();

  TaskSupervision task_;
  JobId job_;
  TaskId id_;
  AttemptId attempt_;
  LanesPort& lanes_;
  caf::actor owner_;
  bool stopped_ = false;
  /// Of an exclusive attempt whose timeout has passed: what is said when its kernel has returned.
  std::optional<Ended> late_;
};

}  // namespace dag
