#include "libdag/home/task_groups.hpp"

#include <algorithm>

#include "libdag/supervision/cause.hpp"

namespace dag {

void TaskGroups::add(std::string name, GroupMachine machine, std::vector<RowIndex> members) {
  groups_.push_back({std::move(name), std::move(machine), std::move(members)});
}

ChildId TaskGroups::child_of(const Group& group, RowIndex member) {
  const auto at = std::lower_bound(group.members.begin(), group.members.end(), member);
  DAG_CHECK(at != group.members.end() && *at == member);
  return ChildId{static_cast<std::uint32_t>(at - group.members.begin())};
}

/// A member that became other tasks has, whatever their outcomes.
bool TaskGroups::has_done_its_part(RowIndex member) const {
  return rows_.has_ended(member) || rows_.is(member, flag::grown);
}

std::span<const RowIndex> TaskGroups::may_start(RowIndex member) {
  Group& group = group_of(member);
  if (!group.machine.on_may_start(child_of(group, member))) return {};
  return group.members;
}

bool TaskGroups::holds_back(RowIndex member) const {
  const Group& group = group_of(member);
  return group.machine.held_back(child_of(group, member));
}

void TaskGroups::went_down(RowIndex member, Exit why, std::optional<Error> error) {
  news_.push_back({member, why, std::move(error)});
}

TaskGroups::Ended TaskGroups::ended(RowIndex member) {
  Group& group = group_of(member);
  Ended ended;
  if (group.machine.on_ended(child_of(group, member))) ended.look_again = group.members;
  ended.gives_up = rows_.word(member).outcome == Outcome::failed && !rows_.is(member, flag::grown);
  if (!ended.gives_up) return ended;
  group.machine.give_up();
  news_.push_back({member, Exit::failed, std::nullopt, true});
  return ended;
}

TaskGroups::Consequences TaskGroups::take_news(Instant now) {
  DAG_CHECK(has_news());
  const News news = std::move(news_.front());
  news_.pop_front();
  Group& group = group_of(news.member);
  if (news.for_good) return give_up(group, news.member);
  Consequences what;
  if (rows_.has_ended(news.member)) return what;
  const std::string name = "the group '" + group.name + "'";
  const Verdict verdict = group.machine.on_child_down(child_of(group, news.member), news.why, now);
  if (std::holds_alternative<Escalate>(verdict)) {
    const Error gave_up = escalation(name, group.machine.spec().intensity, news.error.value());
    Error failed{gave_up.code, rows_.describe(news.member) + " failed, and " + name + " gave up"};
    if (failed.code != ErrorCode::timed_out && failed.code != ErrorCode::process_crashed)
      failed.code = ErrorCode::task_failed;
    what.ends.push_back({news.member, Outcome::failed, because(failed, gave_up)});
  } else if (const auto* restart = std::get_if<RestartChildren>(&verdict)) {
    what.why_restarted = name + " starts again with " + rows_.describe(news.member);
    what.restarts.push_back(news.member);  // A crash may be told when the next attempt runs already.
    for (const ChildId stopped : restart->stop) what.restarts.push_back(group.members[stopped.value]);
  }
  return what;
}

TaskGroups::Consequences TaskGroups::give_up(const Group& group, RowIndex failed) const {
  const Fact* known = rows_.fact(failed);
  const Error cause = known != nullptr && known->error ? *known->error : Error{ErrorCode::task_failed, "?"};
  Consequences what;
  for (const RowIndex member : group.members) {
    if (has_done_its_part(member)) continue;
    const Error cancelled{ErrorCode::task_cancelled, "'" + rows_.table.name_of(rows_.table[member]) +
                                                         "' was cancelled: the group '" + group.name +
                                                         "' gave up"};
    what.ends.push_back({member, Outcome::cancelled, because(cancelled, cause)});
  }
  return what;
}

std::vector<RowIndex> TaskGroups::restart_with_lost(const std::set<RowIndex>& has_attempt) const {
  const auto may_be_lost = [&](RowIndex member) {
    bool settled = true;
    rows_.each_in(member, [&](detail::EdgeKind, RowIndex predecessor, std::uint32_t) {
      settled = settled && rows_.is(predecessor, flag::settled);
    });
    return settled && !has_done_its_part(member) && !has_attempt.contains(member);
  };
  std::vector<RowIndex> restart;
  for (const Group& group : groups_) {
    std::vector<ChildId> lost;
    for (const RowIndex member : group.members) {
      if (may_be_lost(member)) lost.push_back(child_of(group, member));
    }
    for (const RowIndex member : group.members) {
      const ChildId child = child_of(group, member);
      const bool restarts = std::any_of(lost.begin(), lost.end(), [&](ChildId fallen) {
        return group.machine.restarts_with(fallen, child);
      });
      if (restarts) restart.push_back(member);
    }
  }
  return restart;
}

void TaskGroups::check_invariants() const {
  DAG_CHECK(news_.empty());
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    const Group& group = groups_[number];
    DAG_CHECK(std::adjacent_find(group.members.begin(), group.members.end(), std::greater_equal<>()) ==
              group.members.end());
    for (const RowIndex member : group.members) {
      DAG_CHECK(number_of(member) == number && rows_.is(member, flag::member));
      // Else it would hold others back for ever.
      DAG_CHECK(!rows_.is(member, flag::noted) || !group.machine.is_down(child_of(group, member)));
    }
  }
}

}  // namespace dag
