#include "libdag/supervision/group_machine.hpp"

#include <algorithm>

namespace dag {
namespace {

GroupSpec spec_of(Strategy strategy, Intensity intensity, std::uint32_t children) {
  GroupSpec spec{strategy, intensity, {}};
  for (std::uint32_t child = 0; child < children; ++child) spec.children.push_back({ChildId{child}});
  return spec;
}

}  // namespace

GroupMachine::GroupMachine(Strategy strategy, Intensity intensity, std::uint32_t children)
    : spec_(spec_of(strategy, intensity, children)), budget_(intensity) {}

Verdict GroupMachine::on_child_down(ChildId child, Exit why, Instant now) {
  if (gave_up_) return Forget{child};
  const Verdict verdict = dag::on_child_down(spec_, child, why, budget_, now);
  if (std::holds_alternative<RestartChildren>(verdict)) down_.insert(child);
  if (std::holds_alternative<Escalate>(verdict)) give_up();
  return verdict;
}

bool GroupMachine::on_may_start(ChildId child) { return down_.erase(child) > 0; }

bool GroupMachine::restarts_with(ChildId fallen, ChildId child) const {
  switch (spec_.strategy) {
    case Strategy::one_for_one:
      return child == fallen;
    case Strategy::rest_for_one:
      return child >= fallen;
    case Strategy::one_for_all:
      return true;
  }
  return false;
}

bool GroupMachine::held_back(ChildId child) const {
  return std::any_of(down_.begin(), down_.end(),
                     [&](ChildId down) { return down != child && restarts_with(down, child); });
}

}  // namespace dag
