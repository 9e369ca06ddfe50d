#include "libdag/home/borders.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/home/copies.hpp"

namespace dag {

void Borders::begin(Instant now) {
  actors_.resize(calls_.size());
  groups_.resize(calls_.group_count());
  for (Group& group : groups_) group.times.begin(now);
}

bool Borders::makes(RowIndex save, Duration lost_after, Instant now) {
  const std::uint32_t number = calls_.number_of(save);
  Group& group = groups_[calls_[number].group];
  const std::size_t border = actors_[number].saves.size() + 1;
  if (const auto decided = group.made_at.find(border); decided != group.made_at.end()) {
    return decided->second;
  }
  const std::optional<Duration> every = rows_.table.policy_of(rows_.table[save]).checkpoint;
  bool makes = !every || group.times.due(*every, lost_after, now);
  std::size_t behind = border;  // Borders that all have passed.
  for (const std::uint32_t member : calls_.group(calls_[number].group)) {
    const std::vector<RowIndex>& others = actors_[member].saves;
    behind = std::min(behind, others.size());
    // By a home before this one.
    if (every && others.size() >= border) makes = is_made(others[border - 1]);
  }
  if (makes) group.times.saved(now);
  group.made_at.erase(group.made_at.begin(), group.made_at.upper_bound(behind));
  return group.made_at[border] = makes;
}

bool Borders::is_made(RowIndex save) const {
  const Fact* known = rows_.fact(save);
  return rows_.word(save).outcome == Outcome::finished &&
         (rows_.table[save].output.load() || (known != nullptr && known->has_output));
}

bool Borders::save_ended(RowIndex save) {
  Actor& actor = actors_[calls_.number_of(save)];
  actor.saves.push_back(save);
  if (!is_made(save)) return false;
  actor.made.push_back(actor.saves.size());
  return true;
}

bool Borders::save_ended(RowIndex save, Instant now) {
  if (!save_ended(save)) return false;
  const std::uint32_t number = calls_.number_of(save);
  groups_[calls_[number].group].times.took(now - actors_[number].save_began);
  return true;
}

void Borders::begin_anew(std::uint32_t actor) {
  actors_[actor].saves.clear();
  actors_[actor].made.clear();
}

std::vector<RowIndex> Borders::saves_in_use() const {
  std::vector<RowIndex> saves;
  for (const Actor& actor : actors_) {
    for (const std::size_t border : actor.made) {
      if (const RowIndex save = actor.saves[border - 1]; !rows_.is(save, flag::let_go)) saves.push_back(save);
    }
  }
  return saves;
}

message::SavedAs Borders::saved_as(RowIndex save) const {
  const std::uint32_t number = calls_.number_of(save);
  const std::vector<std::uint32_t>& group = calls_.group(calls_[number].group);
  const std::vector<RowIndex>& saves = actors_[number].saves;
  message::SavedAs as;
  as.group = calls_[group.front()].index;
  as.members = static_cast<std::uint32_t>(group.size());
  as.number = static_cast<std::uint32_t>(std::find(saves.begin(), saves.end(), save) - saves.begin() + 1);
  as.actor = calls_[number].index;
  return as;
}

/// Its objects can come back from there now.
bool Borders::is_there(std::uint32_t group, std::size_t border) const {
  const std::vector<std::uint32_t>& members = calls_.group(group);
  return std::all_of(members.begin(), members.end(), [&](std::uint32_t member) {
    if (actors_[member].saves.size() < border) return false;
    const RowIndex save = save_at(member, border);
    return rows_.word(save).outcome == Outcome::finished && rows_.is(save, flag::settled) &&
           !rows_.is(save, flag::let_go) && outputs_.available(save);
  });
}

/// Also holds when a process is lost: everything before the border can be let go.
bool Borders::is_complete(std::uint32_t group, std::size_t border) const {
  if (!is_there(group, border)) return false;
  const bool alone = state_.replicas == 1 && state_.cell == options_.self;
  if (!options_.several_processes || alone) return true;
  const std::vector<std::uint32_t>& members = calls_.group(group);
  return std::all_of(members.begin(), members.end(), [&](std::uint32_t member) {
    const RowIndex save = save_at(member, border);
    const Fact* known = rows_.fact(save);
    // Small states are in the record itself.
    if (known == nullptr) return false;
    return known->size_bytes <= inline_bytes_max_ ||
           lacks_copies(state_, options_.self, outputs_.holders(save)).empty();
  });
}

/// All actors have come to the border, and its saves are neither lost nor complete yet. (Until all have, some
/// actors may wait for calls behind it.)
bool Borders::is_open(std::uint32_t group, std::size_t border) const {
  if (border <= groups_[group].complete || is_complete(group, border)) return false;
  const std::vector<std::uint32_t>& members = calls_.group(group);
  return std::all_of(members.begin(), members.end(), [&](std::uint32_t member) {
    const Actor& actor = actors_[member];
    const RowIndex next = calls_[member].next_call();
    if (actor.saves.size() + 1 == border && next != no_row)
      return rows_.is_save(next) && rows_.word(next).state != RowState::waiting;
    if (actor.saves.size() < border) return false;
    const RowIndex save = save_at(member, border);
    return is_made(save) && !rows_.is(save, flag::let_go) && outputs_.available(save);
  });
}

std::size_t Borders::choose(std::uint32_t group, const std::set<RowIndex>& wanted) const {
  const std::vector<std::size_t>& made = actors_[calls_.group(group).front()].made;
  const auto found = std::find_if(made.rbegin(), made.rend(), [&](std::size_t border) {
    return is_there(group, border) && std::all_of(wanted.begin(), wanted.end(), [&](RowIndex row) {
             const std::uint32_t number = calls_.number_of(row);
             const CallOrder& calls = calls_[number].calls;
             return calls.place_of(row) > calls.place_of(save_at(number, border));
           });
  });
  return found == made.rend() ? 0 : *found;
}

std::optional<Borders::Complete> Borders::advance(std::uint32_t number) {
  Group& group = groups_[number];
  const std::vector<std::size_t>& made = actors_[calls_.group(number).front()].made;
  const auto found = std::find_if(made.rbegin(), made.rend(), [&](std::size_t border) {
    return border <= group.complete || is_complete(number, border);
  });
  const std::size_t newest = found == made.rend() ? 0 : *found;
  if (newest <= group.complete) return std::nullopt;
  Complete complete{newest, {}};
  for (const std::uint32_t member : calls_.group(number)) {
    const CallOrder& calls = calls_[member].calls;
    std::deque<RowIndex>& retained = actors_[member].retained;
    const std::size_t at = calls.place_of(save_at(member, newest));
    for (; !retained.empty() && calls.place_of(retained.front()) <= at; retained.pop_front())
      complete.behind.push_back({retained.front(), false});
    for (std::size_t border = std::max<std::size_t>(group.complete, 1); border < newest; ++border)
      complete.behind.push_back({save_at(member, border), true});
  }
  group.complete = newest;
  return complete;
}

RowIndex Borders::take_retained(RowIndex call) {
  std::deque<RowIndex>& retained = actors_[calls_.number_of(call)].retained;
  if (retained.size() <= retained_calls_max) return no_row;
  const RowIndex oldest = retained.front();
  retained.pop_front();
  return oldest;
}

bool Borders::holds(RowIndex call) const {
  const std::uint32_t number = calls_.number_of(call);
  if (actors_[number].made.empty()) return false;
  const std::size_t border = actors_[number].made.back();
  return !rows_.table.policy_of(rows_.table[save_at(number, border)]).checkpoint &&
         is_open(calls_[number].group, border);
}

RowIndex Borders::take_free() {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [this](RowIndex call) { return !holds(call); });
  return found == waiting_.end() ? no_row : waiting_.extract(found).value();
}

void Borders::check_invariants() const {
  DAG_CHECK(actors_.size() == calls_.size() && groups_.size() == calls_.group_count());
  for (std::uint32_t number = 0; number < actors_.size(); ++number) {
    const Actor& actor = actors_[number];
    const std::size_t ended = calls_[number].next;
    DAG_CHECK(actor.saves.empty() || calls_[number].calls.place_of(actor.saves.back()) < ended);
    DAG_CHECK(actor.made.empty() || actor.made.back() <= actor.saves.size());
    DAG_CHECK(groups_[calls_[number].group].complete <= actor.saves.size());
    for (const RowIndex call : actor.retained) DAG_CHECK(rows_.is(call, flag::retained));
  }
}

}  // namespace dag
