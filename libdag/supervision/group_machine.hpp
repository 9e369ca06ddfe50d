#pragma once
// A group over its life: children fail, wait for their next start, and end; restart.hpp decides single
// events. Decides which children to stop, which wait for which, and when the group gives up; knows no time
// but `now`. Its host knows which children run, and why a child may not start yet by itself (a backoff).
//
// Why no child waits for ever: others wait for a child from its fall until it may start by itself, or ends,
// which other children do not delay. So two children that wait for each other both start.

#include <set>

#include "libdag/supervision/restart.hpp"

namespace dag {

class GroupMachine {
 public:
  /// All children restart on failure, and are numbered in their order from 0.
  GroupMachine(Strategy strategy, Intensity intensity, std::uint32_t children);

  /// As dag::on_child_down. After RestartChildren the child is down. A group that has given up restarts no
  /// child.
  Verdict on_child_down(ChildId child, Exit why, Instant now);
  /// Nothing of the child's own delays its start any more. True: it was down, so others may have been held
  /// back by it and must be looked at again.
  bool on_may_start(ChildId child);
  /// The child has ended, and will not start again. Returns the same.
  bool on_ended(ChildId child) { return on_may_start(child); }
  /// A child has failed for good: the group is useless without it.
  void give_up() { gave_up_ = true; }

  /// True: another child that must start together with it is down.
  bool held_back(ChildId child) const;
  /// True: the strategy restarts `child` when `fallen` fails; true also for `fallen` itself.
  bool restarts_with(ChildId fallen, ChildId child) const;
  bool is_down(ChildId child) const { return down_.contains(child); }
  bool gave_up() const { return gave_up_; }
  const GroupSpec& spec() const { return spec_; }

 private:
  GroupSpec spec_;
  RestartBudget budget_;
  std::set<ChildId> down_;
  bool gave_up_ = false;
};

}  // namespace dag
