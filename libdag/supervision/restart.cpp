#include "libdag/supervision/restart.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"

namespace dag {

std::string_view name(Exit why) {
  switch (why) {
    case Exit::finished:
      return "finished";
    case Exit::failed:
      return "failed";
    case Exit::lost:
      return "lost";
    case Exit::cancelled:
      return "cancelled";
  }
  return "unknown";
}

void RestartBudget::forget_old(Instant now) {
  while (!spent_.empty() && now - spent_.front() >= intensity_.period) spent_.pop_front();
}

bool RestartBudget::spend(Instant now) {
  forget_old(now);
  if (spent_.size() >= intensity_.restarts) return false;
  spent_.push_back(now);
  return true;
}

std::uint32_t RestartBudget::left(Instant now) {
  forget_old(now);
  return intensity_.restarts - static_cast<std::uint32_t>(spent_.size());
}

Verdict on_child_down(const GroupSpec& group, ChildId child, Exit why, RestartBudget& budget, Instant now) {
  const auto& children = group.children;
  const auto down =
      std::find_if(children.begin(), children.end(), [&](const ChildSpec& spec) { return spec.id == child; });
  DAG_CHECK(down != children.end());
  // A loss is a failure of the place: a child that restarts on failure restarts after a loss, too.
  const bool wanted = why != Exit::cancelled &&
                      (down->restart == Restart::always ||
                       (down->restart == Restart::on_failure && (why == Exit::failed || why == Exit::lost)));
  if (!wanted) return Forget{child};
  // A child that is always wanted and keeps finishing would spin here for ever: that is charged as well.
  const bool free = why == Exit::lost;
  if (!free && !budget.spend(now)) return Escalate{child};

  auto first = down, last = down + 1;
  if (group.strategy != Strategy::one_for_one) last = children.end();
  if (group.strategy == Strategy::one_for_all) first = children.begin();
  RestartChildren verdict;
  for (auto at = first; at != last; ++at) verdict.start.push_back(at->id);
  for (auto at = last; at != first;) {
    if (--at != down) verdict.stop.push_back(at->id);
  }
  return verdict;
}

}  // namespace dag
