// Job actors: the order of their calls, where their objects live, and how lost ones come back.
//
// An object is the result of its create call and the calls after it, in order: after calls[0, applied).
// Normally `applied` is `next`, the first call that has not ended. When the object is lost (its process died,
// a call of it failed midway, calls that it has seen vanished) all objects of its save group are, because
// they feed each other. A lost object comes back when a call or an output needs it: from the group's newest
// border (a save of each actor, all recorded and held by a process that the job cannot lose), or from its
// create call; then calls that had ended run again, in order, as attempts of their own whose values must be
// the recorded ones; then it goes on. Others of its group that have calls to come do so at the same time.
//
// A rollback ends: an actor's calls are a finite list, each is run again at most once per rollback, and a
// rollback happens only for a new loss or failure, of which each call may have a limited number, or for an
// output that was made before the border, and then an older border is taken. A limit on rollbacks without a
// new call ended stops the job otherwise.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {

using detail::CallKind;
using detail::Fragment;

void Home::Impl::add_actors(const Fragment& fragment) {
  std::map<std::uint32_t, std::uint32_t> group_of;
  for (std::size_t i = 0; i < fragment.save_groups.size(); ++i) {
    for (const std::uint32_t actor : fragment.save_groups[i])
      group_of.emplace(actor, static_cast<std::uint32_t>(i));
  }
  const Part& part = table.part(0);
  std::map<std::uint32_t, std::uint32_t> here;  // group of the fragment -> of this home
  for (std::uint32_t actor = 0; actor < fragment.actors.size(); ++actor) {
    const RowIndex create = part.row_of(fragment.actors[actor].create_task);
    if (create == no_row || table[create].ghost) continue;
    ActorChain chain;
    chain.index = actor;
    chain.can_save = fragment.actors[actor].save.thunk != nullptr;
    const auto grouped = group_of.find(actor);
    if (grouped == group_of.end()) {
      chain.group = static_cast<std::uint32_t>(groups.size());
      groups.emplace_back();
    } else {
      const auto [at, added] = here.emplace(grouped->second, static_cast<std::uint32_t>(groups.size()));
      if (added) groups.emplace_back();
      chain.group = at->second;
    }
    const auto number = static_cast<std::uint32_t>(chains.size());
    groups[chain.group].actors.push_back(number);
    chain_by_actor.emplace(actor, number);
    chains.push_back(std::move(chain));
  }
  if (!has_calls(fragment)) return;
  for (ActorGroup& group : groups) group.times.begin(now);
  for (RowIndex row = part.rows_begin; row < part.rows_end; ++row) {
    if (!table[row].ghost && is_call(row)) add_call(row, {});
  }
}

ActorChain* Home::Impl::chain_of(RowIndex row) {
  const auto found = chain_by_actor.find(table.kind_of(table[row]).actor);
  DAG_CHECK(found != chain_by_actor.end());  // The partition keeps calls in the shard of their actor.
  return &chains[found->second];
}
const ActorChain* Home::Impl::chain_of(RowIndex row) const { return const_cast<Impl*>(this)->chain_of(row); }

void Home::Impl::call_approved(RowIndex row) {
  ActorChain& chain = *chain_of(row);
  chain.approved = row;
  to_pump.push_back(static_cast<std::uint32_t>(&chain - chains.data()));
}

void Home::Impl::count_calls_again(ActorChain& chain) {
  chain.next = 0;
  chain.saves.clear();
  chain.made.clear();
  while (chain.next < chain.calls.size() && is(chain.calls[chain.next], flag::noted)) {
    const RowIndex row = chain.calls[chain.next++];
    if (is_save(row)) add_save(chain, row);
  }
}

/// A call ended, by any outcome: the next one's turn.
void Home::Impl::call_ended(RowIndex row) {
  ActorChain& chain = *chain_of(row);
  while (chain.next < chain.calls.size() && is(chain.calls[chain.next], flag::noted)) {
    const RowIndex ended = chain.calls[chain.next++];
    if (is_save(ended)) {
      if (!add_save(chain, ended)) continue;
      groups[chain.group].times.took(now - chain.save_began);
      replicate_save(ended);
    }
  }
  if (chain.next < chain.calls.size()) to_decide.push_back(chain.calls[chain.next]);
  to_pump.push_back(static_cast<std::uint32_t>(&chain - chains.data()));
}

/// Calls that an object which comes back must see again.
bool Home::Impl::to_replay(const ActorChain& chain, RowIndex row) const {
  if (is(row, flag::grown) && !has_ended(row))
    return true;  // It returned; what it becomes has not ended yet.
  if (word(row).outcome != Outcome::finished) return false;  // Its effect was undone.
  return table.kind_of(table[row]).call == CallKind::call || groups[chain.group].wanted.contains(row);
}

bool Home::Impl::replay_wanted(const ActorChain& chain) const {
  const std::set<RowIndex>& wanted = groups[chain.group].wanted;
  return std::any_of(wanted.begin(), wanted.end(), [&](RowIndex row) { return chain_of(row) == &chain; });
}

/// The only place that changes an actor: takes one step towards the calls and outputs that need it.
void Home::Impl::pump(ActorChain& chain) {
  if (over || recounting() || chain.busy) return;
  if (chain.approved != no_row &&
      (word(chain.approved).state != RowState::held || chain.next >= chain.calls.size() ||
       chain.calls[chain.next] != chain.approved)) {
    chain.approved = no_row;
  }
  if (chain.approved == no_row && !replay_wanted(chain) && !comes_along(chain)) return;
  if (!chain.place || !alive(*chain.place)) {
    std::vector<std::uint32_t> at(places.size(), 0);
    for (const ActorChain& other : chains) {
      if (!other.place) continue;
      const auto life = std::find(places.begin(), places.end(), *other.place);
      if (life != places.end()) ++at[static_cast<std::size_t>(life - places.begin())];
    }
    chain.place =
        placement->place_actor(chain.index, places, at, table.policy_of(table[chain.calls.front()]));
    chain.alive = false;
  }
  if (!chain.alive) {
    const RowIndex create = chain.calls.front();
    if (chain.approved == create) {
      chain.approved = no_row;
      return start(create, *chain.place);
    }
    // Back from the border, or from the beginning.
    const std::size_t border = groups[chain.group].chosen;
    chain.generation = uncounted();
    chain.busy = true;
    pump_group(groups[chain.group]);
    again[create] = {OutAttempt{*chain.place, chain.generation, 0, false}, again[create].failures};
    if (border == 0) {
      chain.applied = 1;
      return hand_out(create, *chain.place, chain.generation, true, chain.generation, nullptr);
    }
    const RowIndex save = chain.saves[border - 1];
    chain.applied = chain.calls.place_of(save) + 1;
    const OutcomeRecord record = record_of(save, false);
    return hand_out(create, *chain.place, chain.generation, true, chain.generation, &record);
  }
  if (is_planted(options.planted, Planted::replay_skipped)) chain.applied = chain.next;
  const bool grown_now = chain.next < chain.calls.size() && is(chain.calls[chain.next], flag::grown);
  const std::size_t until = chain.next + (grown_now ? 1 : 0);
  while (chain.applied < until && !to_replay(chain, chain.calls[chain.applied])) ++chain.applied;
  if (chain.applied < until) {
    const RowIndex row = chain.calls[chain.applied];
    const AttemptId id = uncounted();
    again[row] = {OutAttempt{*chain.place, id, 0, false}, 0};
    chain.busy = true;
    return hand_out(row, *chain.place, id, true, chain.generation, nullptr);
  }
  if (chain.approved == no_row) return;
  const RowIndex row = chain.approved;
  chain.approved = no_row;
  if (is_save(row)) chain.save_began = now;
  start(row, *chain.place);
}

/// Others of its group come back, and it will be needed, too: with them, or a pipeline would come back a
/// stage at a time.
bool Home::Impl::comes_along(const ActorChain& chain) const {
  if (chain.next == 0 || chain.next == chain.calls.size() || (chain.alive && chain.applied == chain.next)) {
    return false;
  }
  const std::vector<std::uint32_t>& group = groups[chain.group].actors;
  return std::any_of(group.begin(), group.end(), [&](std::uint32_t member) {
    const ActorChain& other = chains[member];
    return &other != &chain && (other.alive || other.busy);
  });
}

void Home::Impl::pump_group(const ActorGroup& group) {
  for (const std::uint32_t number : group.actors) to_pump.push_back(number);
}

/// The end of a run that made an object or a call's value again.
void Home::Impl::call_again_ended(RowIndex row, OutcomeRecord& record, Life from) {
  ActorChain& chain = *chain_of(row);
  ActorGroup& group = groups[chain.group];
  const bool create = table.kind_of(table[row]).call == CallKind::create;
  Again& run = again.at(row);
  run.out.reset();
  chain.busy = false;
  if (record.outcome != Outcome::finished) {
    again.erase(row);
    if (!create) release(from, {record.task, attempt_of(row)});
    return roll_back(chain.group, record.error ? record.error->what : "its object could not be made again");
  }
  again.erase(row);
  if (create) {
    chain.alive = true;
    say(row, [] { return recorded::Restored{}; });
    if (from != options.self) release(from, {record.task, attempt_of(row)});
  } else {
    ++chain.applied;
    group.wanted.erase(row);
    output_is_there_again(row, record, from);
    // Its readers may come later in this very rollback, so it stays for a while even when it had been let go.
  }
  to_pump.push_back(static_cast<std::uint32_t>(&chain - chains.data()));
}

/// An output of an ended call is lost, and needed.
void Home::Impl::remake_call(RowIndex row) {
  ActorChain& chain = *chain_of(row);
  ActorGroup& group = groups[chain.group];
  if (!group.wanted.insert(row).second) return;
  const std::size_t at = chain.calls.place_of(row);
  const bool passed = (chain.alive || chain.busy) && at < chain.applied;
  if (passed) {
    roll_back(chain.group, "an output of it was lost");
  } else if (!chain.alive && !chain.busy) {
    group.chosen = std::min(group.chosen, choose_border(group));
  }
  pump_group(group);
}

/// Gives up all objects of the group. Needed ones come back from the newest border that will do.
void Home::Impl::roll_back(std::uint32_t number, const std::string& why) {
  ActorGroup& group = groups[number];
  if (over) return;
  if (++group.rollbacks > options.rollbacks_max) {
    return fail_job({ErrorCode::internal, "job actors were restored " + std::to_string(group.rollbacks) +
                                              " times without getting further; last because " + why});
  }
  std::vector<RowIndex> given_up;
  for (const std::uint32_t member : group.actors) {
    ActorChain& chain = chains[member];
    if (chain.alive || chain.busy) given_up.push_back(chain.calls.front());
    chain.alive = false;
    chain.approved = no_row;
    if (chain.busy) {
      chain.busy = false;
      for (const RowIndex row : chain.calls) {
        if (const auto out = handed_out.find(row); out != handed_out.end()) {
          stop_handed_out(row, out->second);
          say(table.id(row), out->second.id, [&] { return recorded::Lost{why}; });
          table.apply(row, TakenBack{out->second.word_attempt});
          handed_out.erase(out);
        }
        if (const auto run = again.find(row); run != again.end()) {
          if (run->second.out) stop_handed_out(row, *run->second.out);
          again.erase(run);
        }
      }
    }
    if (chain.next < chain.calls.size()) to_decide.push_back(chain.calls[chain.next]);
  }
  group.chosen = choose_border(group);
  for (const RowIndex create : given_up) {
    say(create, [&] { return recorded::RolledBack{group.chosen, why}; });
  }
  pump_group(group);
}

/// Some of its objects were lost and have not seen again all that they had seen.
bool Home::Impl::comes_back(const ActorGroup& group) const {
  return std::any_of(group.actors.begin(), group.actors.end(), [&](std::uint32_t member) {
    const ActorChain& chain = chains[member];
    return chain.next > 0 && (!chain.alive || chain.applied < chain.next);
  });
}

}  // namespace dag
