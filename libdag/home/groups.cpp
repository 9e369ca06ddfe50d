// Groups of tasks that are supervised together (Graph::group). When an attempt of a member failed, crashed or
// was lost, and is to be tried again, the group's machine says which members restart with it, or that the
// group gives up; this file carries it out.
//
// A group hears of all that an event did to its members when that event is over, before any row is decided.
// So members that were lost together are all taken back before one of them starts.
//
// Members start from settled inputs only, and settled outcomes never change. So no end of a member is taken
// back, and neither are its consequences in the group: ends by giving up rest on nothing, like those that a
// client orders.
//
// After a loss of the home the next one learns from the record which members have ended, and so that a member
// has failed, and why others were cancelled; it goes on with that. The restarts of the last period are not
// settled. It cannot know whether a member that runs nowhere, with settled inputs, was lost or had not
// begun, and takes it for lost. It takes over a member whose stop did not arrive.

#include <algorithm>

#include "libdag/home/home_impl.hpp"
#include "libdag/supervision/cause.hpp"

namespace dag {

/// Adds the groups of the submitted graph; spawned tasks are in no group.
void Home::Impl::add_groups() {
  const detail::Fragment& graph = *plan->graph;
  if (graph.groups.empty()) return;
  std::vector<std::vector<RowIndex>> members(graph.groups.size());
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    const std::optional<std::uint32_t> group = graph.policy(task).group;
    if (!group || plan->shard_of[task] != options.shard) continue;
    const RowIndex row = table.part(0).row_of(task);
    set(row, flag::member);
    members[*group].push_back(row);
  }
  for (std::size_t group = 0; group < members.size(); ++group) {
    const detail::GroupDraft& draft = graph.groups[group];
    const auto count = static_cast<std::uint32_t>(members[group].size());
    task_groups.push_back({graph.names[draft.name], std::move(members[group]),
                           GroupMachine(draft.strategy, draft.intensity, count)});
  }
}

TaskGroup& Home::Impl::group_of(RowIndex member) {
  return task_groups[table.policy_of(table[member]).group.value()];
}

const TaskGroup& Home::Impl::group_of(RowIndex member) const {
  return task_groups[table.policy_of(table[member]).group.value()];
}

ChildId Home::Impl::child_of(const TaskGroup& group, RowIndex member) const {
  const auto at = std::lower_bound(group.members.begin(), group.members.end(), member);
  DAG_CHECK(at != group.members.end() && *at == member);
  return ChildId{static_cast<std::uint32_t>(at - group.members.begin())};
}

/// How often it may be tried. A member that says nothing of it leaves that to its group.
Retry Home::Impl::retry_of(RowIndex row) const {
  Retry retry = table.policy_of(table[row]).retry;
  if (is(row, flag::member) && retry.attempts == 1) retry.attempts = limits::attempts_max;
  return retry;
}

/// True if the group holds back a member that could start now.
bool Home::Impl::waits_for_group(RowIndex member) {
  TaskGroup& group = group_of(member);
  const ChildId child = child_of(group, member);
  if (group.machine.on_may_start(child)) look_again_at(group);
  return group.machine.held_back(child);
}

void Home::Impl::look_again_at(const TaskGroup& group) {
  if (is_planted(options.planted, PlantedInHome::gang_waits_on)) return;
  to_decide.insert(to_decide.end(), group.members.begin(), group.members.end());
}

/// An attempt of a member failed or is gone, and another one is to follow.
void Home::Impl::member_down(RowIndex member, Exit why, std::optional<Error> error) {
  members_down.push_back({member, why, std::move(error)});
}

/// A member ended, by any outcome. If it failed, the group is of no use any more; but a member that became
/// other tasks has done its part, whatever their outcomes.
void Home::Impl::member_ended(RowIndex member) {
  TaskGroup& group = group_of(member);
  if (group.machine.on_ended(child_of(group, member))) look_again_at(group);
  if (word(member).outcome != Outcome::failed || is(member, flag::grown)) return;
  group.machine.give_up();
  set(member, flag::by_order);
  members_down.push_back({member, Exit::failed, std::nullopt, true});
}

void Home::Impl::tell_group(GroupMemberDown down) {
  TaskGroup& group = group_of(down.row);
  const std::string name = "the group '" + group.name + "'";
  if (down.for_good) {
    const Fact* known = fact(down.row);
    const Error cause = known != nullptr && known->error ? *known->error : Error{ErrorCode::task_failed, "?"};
    for (const RowIndex other : group.members) {
      if (has_ended(other) || is(other, flag::grown)) continue;
      const Error cancelled{ErrorCode::task_cancelled,
                            "'" + table.name_of(table[other]) + "' was cancelled: " + name + " gave up"};
      close(other, Outcome::cancelled, because(cancelled, cause), flag::by_order);
    }
    return;
  }
  if (has_ended(down.row)) return;
  const ChildId child = child_of(group, down.row);
  const Verdict verdict = group.machine.on_child_down(child, down.why, now);
  if (std::holds_alternative<Escalate>(verdict)) {
    const Error gave_up = escalation(name, group.machine.spec().intensity, down.error.value());
    Error failed{gave_up.code, describe(down.row) + " failed, and " + name + " gave up"};
    if (failed.code != ErrorCode::timed_out && failed.code != ErrorCode::process_crashed)
      failed.code = ErrorCode::task_failed;
    return close(down.row, Outcome::failed, because(failed, gave_up), flag::by_order);
  }
  if (const auto* restart = std::get_if<RestartChildren>(&verdict)) {
    const std::string why = name + " starts again with " + describe(down.row);
    stop_member(down.row, why);  // A crash may be told when the next attempt runs already.
    if (is_planted(options.planted, PlantedInHome::gang_goes_on)) return;
    for (const ChildId stopped : restart->stop) stop_member(group.members[stopped.value], why);
  }
}

/// If it runs. It is decided about anew.
void Home::Impl::stop_member(RowIndex member, const std::string& why) {
  const auto out = dispatched.find(member);
  if (out == dispatched.end()) return;
  stop_for_next(member, out->second);
  overtake({table.id(member), out->second.id});
  say(table.id(member), out->second.id, [&] { return event::StartedOver{why}; });
  table.apply(member, TakenBack{out->second.word_attempt});
  dispatched.erase(out);
  to_decide.push_back(member);
}

/// An attempt is stopped, perhaps when it had just ended. If an earlier home began it, reports that it runs
/// or has ended do not count any more; for our own attempts they would not anyway.
void Home::Impl::overtake(const OutputName& attempt) {
  if (attempt.attempt.epoch == options.epoch) return;
  earlier.overtake(attempt);
}

/// All reports of running attempts are in. A member that runs nowhere and whose inputs are settled may have
/// run and be lost: attempts of members that restart with it are not taken over.
void Home::Impl::count_groups_again() {
  const auto runs_on = [&](RowIndex member) {
    const EarlierAttempts::Offers& offers = earlier.offers_of(member);
    return std::any_of(offers.begin(), offers.end(), [&](const EarlierAttempts::Offer& offer) {
      return alive(offer.from) && (!offer.running || !earlier.is_back(offer.record.name()));
    });
  };
  const auto could_run = [&](RowIndex member) {
    bool settled = true;
    each_in(member, [&](detail::EdgeKind, RowIndex predecessor, std::uint32_t) {
      settled = settled && is(predecessor, flag::settled);
    });
    return settled && !has_ended(member) && !is(member, flag::grown);
  };
  for (const TaskGroup& group : task_groups) {
    std::vector<ChildId> lost;
    for (const RowIndex member : group.members) {
      if (could_run(member) && !runs_on(member)) lost.push_back(child_of(group, member));
    }
    for (const RowIndex member : group.members) {
      const ChildId child = child_of(group, member);
      const bool starts_again = std::any_of(lost.begin(), lost.end(), [&](ChildId fallen) {
        return group.machine.restarts_with(fallen, child);
      });
      if (!starts_again) continue;
      for (const EarlierAttempts::Offer& offer : earlier.take_running(member)) {
        if (alive(offer.from))
          send(offer.from, message::Stop{plan->job, options.shard, options.epoch, offer.record.name()});
        overtake(offer.record.name());
      }
    }
  }
}

}  // namespace dag
