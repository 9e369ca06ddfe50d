// Saves of job actors: when they are made, where they lie, and which of them lost objects come back from.
//
// The saves of one number of all actors of a group are a border. A complete border (all recorded, and held
// by processes that the job cannot lose) bounds the cost of a loss, and older saves may go.
//
// A save that the graph asks for holds the calls behind it until then, so that a loss costs no more than the
// work between two of them. A save that may be left out does not: it is made to cost little, and its interval
// limits the work at stake.
//
// Where a graph says that saves may be left out, the home decides once for each border, when the first of the
// group's actors has come there: for all of them, or the border would never be complete. One that is left
// out ends without an attempt and without an output.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {

/// True if the next save is made, false if it is left out.
bool Home::Impl::saves_here(const ActorChain& chain, RowIndex row) {
  ActorGroup& group = groups[chain.group];
  const std::size_t border = chain.saves.size() + 1;
  if (const auto decided = group.saves_at.find(border); decided != group.saves_at.end()) {
    return decided->second;
  }
  const std::optional<Duration> every = table.policy_of(table[row]).checkpoint;
  bool saves = !every || group.times.due(*every, lost_after(group), now);
  std::size_t behind = border;  // Borders that all have passed.
  for (const std::uint32_t member : group.actors) {
    const std::vector<RowIndex>& others = chains[member].saves;
    behind = std::min(behind, others.size());
    // By a home before this one.
    if (every && others.size() >= border) saves = is_made(others[border - 1]);
  }
  if (saves) group.times.saved(now);
  group.saves_at.erase(group.saves_at.begin(), group.saves_at.upper_bound(behind));
  return group.saves_at[border] = saves;
}

/// How long it takes on average until one of the processes is lost that it lives in.
Duration Home::Impl::lost_after(const ActorGroup& group) const {
  std::set<Life> at;
  for (const std::uint32_t member : group.actors) {
    if (chains[member].place) at.insert(*chains[member].place);
  }
  return losses.mean_time(now, places.size()) / static_cast<int>(std::max<std::size_t>(at.size(), 1));
}

/// True if a save that has ended was made and not left out.
bool Home::Impl::is_made(RowIndex save) const {
  const Fact* known = fact(save);
  return word(save).outcome == Outcome::finished &&
         (table[save].output.load() || (known != nullptr && known->has_output));
}

/// False: it was left out.
bool Home::Impl::add_save(ActorChain& chain, RowIndex ended) {
  chain.saves.push_back(ended);
  if (!is_made(ended)) return false;
  chain.made.push_back(chain.saves.size());
  return true;
}

/// Its objects can come back from there now.
bool Home::Impl::border_there(const ActorGroup& group, std::size_t border) const {
  return std::all_of(group.actors.begin(), group.actors.end(), [&](std::uint32_t member) {
    const ActorChain& chain = chains[member];
    if (chain.saves.size() < border) return false;
    const RowIndex save = chain.saves[border - 1];
    return word(save).outcome == Outcome::finished && is(save, flag::settled) && !is(save, flag::let_go) &&
           available(save);
  });
}

/// Also holds when a process is lost: everything before the border can be let go.
bool Home::Impl::border_complete(const ActorGroup& group, std::size_t border) const {
  if (!border_there(group, border)) return false;
  const bool alone = state.replicas == 1 && state.cell == options.self;
  if (!options.several_processes || alone) return true;
  return std::all_of(group.actors.begin(), group.actors.end(), [&](std::uint32_t member) {
    const RowIndex save = chains[member].saves[border - 1];
    const Fact* known = fact(save);
    // Small states are in the record itself.
    if (known == nullptr) return false;
    return known->size_bytes <= plan->inline_bytes_max || lacks_copies(holders_without_offer(save)).empty();
  });
}

/// All actors have come to the border, and its saves are neither lost nor complete yet. (Until all have, some
/// actors may wait for calls behind it.)
bool Home::Impl::border_open(const ActorGroup& group, std::size_t border) const {
  if (border <= group.border || border_complete(group, border)) return false;
  return std::all_of(group.actors.begin(), group.actors.end(), [&](std::uint32_t member) {
    const ActorChain& chain = chains[member];
    if (chain.saves.size() + 1 == border && chain.next < chain.calls.size()) {
      const RowIndex next = chain.calls[chain.next];
      return is_save(next) && word(next).state != RowState::waiting;
    }
    if (chain.saves.size() < border) return false;
    const RowIndex save = chain.saves[border - 1];
    return is_made(save) && !is(save, flag::let_go) && available(save);
  });
}

bool Home::Impl::waits_for_save(const ActorChain& chain) const {
  if (chain.made.empty()) return false;
  const std::size_t border = chain.made.back();
  return !table.policy_of(table[chain.saves[border - 1]]).checkpoint &&
         border_open(groups[chain.group], border);
}

/// A waiting call that need not wait any more; no_row if there is none. The search starts anew at each event:
/// few calls wait, and many events complete a border or lose it.
RowIndex Home::Impl::take_past_its_save() {
  const auto found = std::find_if(behind_saves.begin(), behind_saves.end(),
                                  [this](RowIndex row) { return !waits_for_save(*chain_of(row)); });
  return found == behind_saves.end() ? no_row : behind_saves.extract(found).value();
}

/// The newest border before all calls whose outputs are wanted: counted from 1; 0: from the beginning.
std::size_t Home::Impl::choose_border(const ActorGroup& group) const {
  const std::vector<std::size_t>& made = chains[group.actors.front()].made;
  const auto found = std::find_if(made.rbegin(), made.rend(), [&](std::size_t border) {
    return border_there(group, border) &&
           std::all_of(group.wanted.begin(), group.wanted.end(), [&](RowIndex row) {
             const ActorChain& chain = *chain_of(row);
             return chain.calls.place_of(row) > chain.calls.place_of(chain.saves[border - 1]);
           });
  });
  return found == made.rend() ? 0 : *found;
}

/// A save settled or was copied: perhaps a border is complete, and older ones may go. Not while objects come
/// back from an older border: their inputs must come from there, too.
void Home::Impl::saves_changed(std::uint32_t number) {
  ActorGroup& group = groups[number];
  if (comes_back(group)) return;
  const std::vector<std::size_t>& made = chains[group.actors.front()].made;
  const auto found = std::find_if(made.rbegin(), made.rend(), [&](std::size_t border) {
    return border <= group.border || border_complete(group, border);
  });
  const std::size_t newest = found == made.rend() ? 0 : *found;
  if (newest <= group.border) return;
  for (const std::uint32_t member : group.actors) {
    ActorChain& chain = chains[member];
    const std::size_t at = chain.calls.place_of(chain.saves[newest - 1]);
    while (!chain.retained.empty() && chain.calls.place_of(chain.retained.front()) <= at) {
      const RowIndex covered = chain.retained.front();
      chain.retained.pop_front();
      unset(covered, flag::retained);
      release_inputs(covered);
    }
    for (std::size_t border = std::max<std::size_t>(group.border, 1); border < newest; ++border) {
      consumer_done(chain.saves[border - 1]);
    }
  }
  group.border = newest;
  say(chains[group.actors.front()].calls.front(), [&] { return recorded::Saved{0, newest}; });
}

/// Lives that still need a copy of a saved state, which must outlive the process that wrote it. With one
/// replica: the cell's, since the job cannot outlive it, and its node brings the state to the disks of all
/// that have the record; otherwise enough for two copies, on two nodes if there are.
std::vector<Life> Home::Impl::lacks_copies(std::vector<Life> holders) const {
  std::vector<Life> lacking;
  const bool cell_has = std::find(holders.begin(), holders.end(), state.cell) != holders.end();
  if (!cell_has && (state.replicas == 1 || alive(state.cell))) {
    holders.push_back(state.cell);
    lacking.push_back(state.cell);
  }
  if (state.replicas == 1) return lacking;
  const std::vector<Life> more = lacks_second_node(std::move(holders));
  lacking.insert(lacking.end(), more.begin(), more.end());
  return lacking;
}

/// The lives that need a copy, so that there are two, on two nodes if there are.
std::vector<Life> Home::Impl::lacks_second_node(std::vector<Life> holders) const {
  std::vector<Life> lacking;
  const auto has = [&](Life life) {
    return std::find(holders.begin(), holders.end(), life) != holders.end();
  };
  const auto on_two_nodes = [&] {
    return std::any_of(holders.begin(), holders.end(), [&](Life holder) {
      return node_of(holder.process) != node_of(holders.front().process);
    });
  };
  for (const bool anywhere : {false, true}) {
    const auto ask = [&](Life life) {
      if (on_two_nodes() || (anywhere && holders.size() >= 2) || !alive(life) || has(life)) return;
      const bool elsewhere = std::none_of(holders.begin(), holders.end(), [&](Life holder) {
        return node_of(holder.process) == node_of(life.process);
      });
      if (!elsewhere && !anywhere) return;
      holders.push_back(life);
      lacking.push_back(life);
    };
    ask(options.self);
    for (const Life life : state.lives) ask(life);
  }
  return lacking;
}

/// Asks for new copies, since holders may be gone.
void Home::Impl::replicate_saves() {
  for (const ActorChain& chain : chains) {
    for (const std::size_t border : chain.made) {
      if (const RowIndex save = chain.saves[border - 1]; !is(save, flag::let_go)) replicate_save(save);
    }
  }
}

void Home::Impl::replicate_save(RowIndex row) {
  if (!options.several_processes) return;
  const OutcomeRecord record = record_of(row, false);
  if (!record.has_output) return;
  // A save in the record is sent all the same: processes that write saves to disk need all of a group.
  const std::vector<Life> holders = record.value ? std::vector<Life>{} : holders_of(row);
  if (!record.value && holders.empty()) return;  // It is lost, and nobody needs it for its own sake.
  const std::vector<Life> lacking = record.value ? std::vector{state.cell} : lacks_copies(holders);
  if (lacking.empty()) return;
  const ActorChain& chain = *chain_of(row);
  const ActorGroup& group = groups[chain.group];
  message::SavedAs as;
  as.group = chains[group.actors.front()].index;
  as.members = static_cast<std::uint32_t>(group.actors.size());
  as.number = static_cast<std::uint32_t>(std::find(chain.saves.begin(), chain.saves.end(), row) -
                                         chain.saves.begin() + 1);
  as.actor = chain.index;
  for (const Life life : lacking) {
    send(life, message::Replicate{plan->job, options.shard, options.epoch, record, holders, as});
  }
}

}  // namespace dag
