// Carries out what groups of tasks decide (task_groups.hpp).
//
// After a loss of the home the next one learns from the record which members have ended, and so that a member
// has failed, and why others were cancelled; it goes on with that. The restarts of the last period are not
// settled. It cannot know whether a member that runs nowhere, with settled inputs, was lost or had not
// begun, and takes it for lost. It takes over a member whose stop did not arrive.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

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
    groups.add(graph.names[draft.name], GroupMachine(draft.strategy, draft.intensity, count),
               std::move(members[group]));
  }
}

/// True if the group holds back a member that could start now.
bool Home::Impl::waits_for_group(RowIndex member) {
  look_again_at(groups.may_start(member));
  return groups.holds_back(member);
}

void Home::Impl::look_again_at(std::span<const RowIndex> members) {
  if (is_planted(options.planted, PlantedInHome::gang_waits_on)) return;
  work.decide(members);
}

void Home::Impl::member_ended(RowIndex member) {
  const TaskGroups::Ended ended = groups.ended(member);
  look_again_at(ended.look_again);
  if (ended.gives_up) set(member, flag::by_order);
}

void Home::Impl::carry_out(const TaskGroups::Consequences& what) {
  for (const TaskGroups::Consequences::End& end : what.ends)
    close(end.member, end.outcome, end.why, flag::by_order);
  for (const RowIndex member : what.restarts) {
    stop_member(member, what.why_restarted);
    if (is_planted(options.planted, PlantedInHome::gang_goes_on)) return;
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
  work.decide(member);
}

/// An attempt is stopped, perhaps when it had just ended. If an earlier home began it, reports that it runs
/// or has ended do not count any more; for our own attempts they would not anyway.
void Home::Impl::overtake(const OutputName& attempt) {
  if (attempt.attempt.epoch == options.epoch) return;
  earlier.overtake(attempt);
}

/// All reports of running attempts are in. Attempts of members that restart with a lost one are not taken
/// over.
void Home::Impl::count_groups_again() {
  const auto has_attempt = [&](RowIndex member) {
    const EarlierAttempts::Offers& offers = earlier.offers_of(member);
    return std::any_of(offers.begin(), offers.end(), [&](const EarlierAttempts::Offer& offer) {
      return alive(offer.from) && (!offer.running || !earlier.is_back(offer.record.name()));
    });
  };
  std::set<RowIndex> with_attempt;
  for (const RowIndex row : earlier.rows()) {
    if (has_attempt(row)) with_attempt.insert(row);
  }
  for (const RowIndex member : groups.restart_with_lost(with_attempt)) {
    for (const EarlierAttempts::Offer& offer : earlier.take_running(member)) {
      if (alive(offer.from))
        send(offer.from, message::Stop{plan->job, options.shard, options.epoch, offer.record.name()});
      overtake(offer.record.name());
    }
  }
}

}  // namespace dag
