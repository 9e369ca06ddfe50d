#pragma once
// A group whose children fail, wait for their next start, and end: what restart.hpp decides of one event,
// over the life of a group. Decides whom to stop, who waits for whom, and that it gives up; knows no time but
// what it is given. Which children run, and why one may not start yet by itself (a backoff), is its host's.
//
// Why nobody waits for ever: a child is waited for from its fall until it may start, or ends, as far as it
// alone is concerned, which others do not put off. So two that wait for each other both come through.

#include <set>

#include "libdag/supervision/restart.hpp"

namespace dag {

class GroupMachine {
 public:
  /// All children are wanted again on failure, and are numbered in their order from 0.
  GroupMachine(Strategy strategy, Intensity intensity, std::uint32_t children);

  /// As dag::on_child_down says. After RestartChildren the child is down. A group that has given up wants
  /// nobody again.
  Verdict on_child_down(ChildId child, Exit why, Instant now);
  /// Nothing of its own keeps the child from starting any more. True: it was down, so that others may have
  /// been held back by it, and are to be looked at again.
  bool on_may_start(ChildId child);
  /// The child has ended, and will not start again. The same answer.
  bool on_ended(ChildId child) { return on_may_start(child); }
  /// A child has failed for good: the group is of no use without it.
  void give_up() { gave_up_ = true; }

  /// Another child is down that it starts together with.
  bool held_back(ChildId child) const;
  /// Whom the strategy starts again when `fallen` does, that one included.
  bool restarts_with(ChildId fallen, ChildId child) const;
  bool gave_up() const { return gave_up_; }
  const GroupSpec& spec() const { return spec_; }

 private:
  GroupSpec spec_;
  RestartBudget budget_;
  std::set<ChildId> down_;
  bool gave_up_ = false;
};

}  // namespace dag
