#include "libdag/home/actor_objects.hpp"

#include <algorithm>
#include <utility>

#include "libdag/base/check.hpp"
#include "libdag/base/planted.hpp"

namespace dag {

using detail::CallKind;

void ActorObjects::begin() {
  actors_.resize(calls_.size());
  groups_.resize(calls_.group_count());
}

void ActorObjects::approve(RowIndex call) {
  actor_of(call).approved = call;
  look_at(call);
}

AttemptId ActorObjects::begin_call(RowIndex call, AttemptId generation) {
  Actor& actor = actor_of(call);
  actor.busy = true;
  if (generation) actor.generation = generation;
  return actor.generation;
}

void ActorObjects::returned(RowIndex call) {
  const std::uint32_t number = calls_.number_of(call);
  Actor& actor = actors_[number];
  actor.busy = false;
  actor.alive = true;
  actor.applied = calls_[number].next + 1;
  groups_[calls_[number].group].rollbacks = 0;
}

void ActorObjects::ran_again(RowIndex call) {
  const std::uint32_t number = calls_.number_of(call);
  if (rows_.table.kind_of(rows_.table[call]).call == CallKind::create) {
    actors_[number].alive = true;
  } else {
    ++actors_[number].applied;
    groups_[calls_[number].group].wanted.erase(call);
  }
}

void ActorObjects::look_at_group(std::uint32_t group) {
  const std::vector<std::uint32_t>& members = calls_.group(group);
  to_step_.insert(to_step_.end(), members.begin(), members.end());
}

std::optional<std::uint32_t> ActorObjects::take_next() {
  if (to_step_.empty()) return std::nullopt;
  const std::uint32_t actor = to_step_.front();
  to_step_.pop_front();
  return actor;
}

ActorStep ActorObjects::step(std::uint32_t number, const std::vector<Life>& places) {
  Actor& actor = actors_[number];
  const ActorCalls::Actor& calls = calls_[number];
  if (actor.busy) return {};
  const bool held = actor.approved != no_row && rows_.word(actor.approved).state == RowState::held;
  if (!held || calls.next_call() != actor.approved) actor.approved = no_row;
  if (actor.approved == no_row && !is_wanted(number) && !comes_along(number)) return {};
  if (!actor.place || !alive(*actor.place)) find_place(number, places);
  if (!actor.alive) return make_object(number);
  if (is_planted(options_.planted, PlantedInHome::replay_skipped)) actor.applied = calls.next;
  const bool grown_now = calls.next_call() != no_row && rows_.is(calls.next_call(), flag::grown);
  const std::size_t until = calls.next + (grown_now ? 1 : 0);
  while (actor.applied < until && !to_replay(number, calls.calls[actor.applied])) ++actor.applied;
  if (actor.applied < until) {
    actor.busy = true;
    return {ActorStep::What::run_again,
            number,
            calls.calls[actor.applied],
            no_row,
            *actor.place,
            actor.generation};
  }
  if (actor.approved == no_row) return {};
  const RowIndex call = std::exchange(actor.approved, no_row);
  return {ActorStep::What::start, number, call, no_row, *actor.place, {}};
}

/// Where the fewest of the others are, or as placement has it.
void ActorObjects::find_place(std::uint32_t number, const std::vector<Life>& places) {
  std::vector<std::uint32_t> actors_at(places.size(), 0);
  for (const Actor& other : actors_) {
    if (!other.place) continue;
    const auto life = std::find(places.begin(), places.end(), *other.place);
    if (life != places.end()) ++actors_at[static_cast<std::size_t>(life - places.begin())];
  }
  const ActorCalls::Actor& calls = calls_[number];
  const Policy& policy = rows_.table.policy_of(rows_.table[calls.calls.front()]);
  actors_[number].place = placement_.place_actor(calls.index, places, actors_at, policy);
  actors_[number].alive = false;
}

/// For the first time, or back from the border, or from the beginning.
ActorStep ActorObjects::make_object(std::uint32_t number) {
  Actor& actor = actors_[number];
  const ActorCalls::Actor& calls = calls_[number];
  const RowIndex create = calls.calls.front();
  if (actor.approved == create) {
    actor.approved = no_row;
    return {ActorStep::What::start, number, create, no_row, *actor.place, {}};
  }
  const std::size_t border = groups_[calls.group].chosen;
  const RowIndex save = border == 0 ? no_row : borders_.save_at(number, border);
  actor.busy = true;
  actor.applied = border == 0 ? 1 : calls.calls.place_of(save) + 1;
  look_at_group(calls.group);
  return {ActorStep::What::make_object, number, create, save, *actor.place, {}};
}

bool ActorObjects::is_wanted(std::uint32_t actor) const {
  const std::set<RowIndex>& wanted = groups_[calls_[actor].group].wanted;
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](RowIndex call) { return calls_.number_of(call) == actor; });
}

/// Others of its group come back, and it will be needed, too: with them, or a pipeline would come back a
/// stage at a time.
bool ActorObjects::comes_along(std::uint32_t number) const {
  const ActorCalls::Actor& calls = calls_[number];
  const bool goes_on = actors_[number].alive && actors_[number].applied == calls.next;
  if (calls.next == 0 || calls.next == calls.calls.size() || goes_on) return false;
  const std::vector<std::uint32_t>& members = calls_.group(calls.group);
  return std::any_of(members.begin(), members.end(), [&](std::uint32_t other) {
    return other != number && (actors_[other].alive || actors_[other].busy);
  });
}

/// Calls that an object which comes back must see again.
bool ActorObjects::to_replay(std::uint32_t actor, RowIndex call) const {
  if (rows_.is(call, flag::grown) && !rows_.has_ended(call))
    return true;  // The call returned; the task that it becomes has not ended yet.
  if (rows_.word(call).outcome != Outcome::finished) return false;  // The call's effect was undone.
  return rows_.table.kind_of(rows_.table[call]).call == CallKind::call ||
         groups_[calls_[actor].group].wanted.contains(call);
}

std::vector<std::uint32_t> ActorObjects::lost_groups() const {
  std::vector<std::uint32_t> lost;
  for (std::uint32_t group = 0; group < calls_.group_count(); ++group) {
    const std::vector<std::uint32_t>& members = calls_.group(group);
    const bool one_gone = std::any_of(members.begin(), members.end(), [&](std::uint32_t member) {
      return actors_[member].place && !alive(*actors_[member].place);
    });
    const bool any_there = std::any_of(members.begin(), members.end(), [&](std::uint32_t member) {
      return actors_[member].alive || actors_[member].busy;
    });
    if (one_gone && any_there) lost.push_back(group);
  }
  return lost;
}

std::optional<ActorObjects::Rollback> ActorObjects::roll_back(std::uint32_t number) {
  Group& group = groups_[number];
  if (++group.rollbacks > options_.rollbacks_max) return std::nullopt;
  Rollback rollback;
  for (const std::uint32_t member : calls_.group(number)) {
    Actor& actor = actors_[member];
    const ActorCalls::Actor& calls = calls_[member];
    if (actor.alive || actor.busy) rollback.given_up.push_back(calls.calls.front());
    if (actor.busy) rollback.busy.push_back(member);
    actor.alive = actor.busy = false;
    actor.approved = no_row;
    if (calls.next_call() != no_row) rollback.next.push_back(calls.next_call());
  }
  rollback.border = group.chosen = borders_.choose(number, group.wanted);
  look_at_group(number);
  return rollback;
}

bool ActorObjects::want_again(RowIndex call) {
  const std::uint32_t number = calls_.number_of(call);
  const ActorCalls::Actor& calls = calls_[number];
  Group& group = groups_[calls.group];
  if (!group.wanted.insert(call).second) return false;
  const Actor& actor = actors_[number];
  const bool there = actor.alive || actor.busy;
  if (there && calls.calls.place_of(call) < actor.applied) return true;
  if (!there) group.chosen = std::min(group.chosen, borders_.choose(calls.group, group.wanted));
  look_at_group(calls.group);
  return false;
}

void ActorObjects::recounted() {
  for (std::uint32_t group = 0; group < groups_.size(); ++group)
    groups_[group].chosen = borders_.choose(group, groups_[group].wanted);
}

bool ActorObjects::is_behind(std::uint32_t number) const {
  const Actor& actor = actors_[number];
  const std::size_t next = calls_[number].next;
  return next > 0 && (!actor.alive || actor.applied < next);
}

bool ActorObjects::comes_back(std::uint32_t group) const {
  const std::vector<std::uint32_t>& members = calls_.group(group);
  return std::any_of(members.begin(), members.end(), [&](std::uint32_t member) { return is_behind(member); });
}

int ActorObjects::processes_of(std::uint32_t group) const {
  std::set<Life> at;
  for (const std::uint32_t member : calls_.group(group)) {
    if (actors_[member].place) at.insert(*actors_[member].place);
  }
  return std::max(static_cast<int>(at.size()), 1);
}

void ActorObjects::check_invariants() const {
  DAG_CHECK(actors_.size() == calls_.size() && groups_.size() == calls_.group_count());
  DAG_CHECK(to_step_.empty());
  for (std::uint32_t number = 0; number < actors_.size(); ++number) {
    const Actor& actor = actors_[number];
    DAG_CHECK(!(actor.alive || actor.busy) || actor.place);
    DAG_CHECK(!actor.alive || actor.applied <= calls_[number].calls.size());
  }
  for (const Group& group : groups_) {
    DAG_CHECK(group.rollbacks <= options_.rollbacks_max + 1);
    for (const RowIndex call : group.wanted) DAG_CHECK(rows_.has_ended(call) || rows_.is(call, flag::grown));
  }
}

}  // namespace dag
