// Placement of rows: the facts given to it, and the use of its answer.

#include <algorithm>

#include "libdag/home/home_impl.hpp"

namespace dag {

/// Rows whose outputs are its arguments, each once.
std::vector<RowIndex> Home::Impl::input_rows(RowIndex row) const {
  std::vector<RowIndex> rows;
  each_input(row, [&](RowIndex input) {
    if (word(input).outcome == Outcome::finished) rows.push_back(input);
  });
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

/// A lane of this process finds all that the row needs in the slots.
bool Home::Impl::inputs_here(RowIndex row) const {
  bool all_here = true;
  each_input(row, [&](RowIndex input) {
    all_here = all_here && (word(input).outcome != Outcome::finished || table[input].output.load());
  });
  return all_here;
}

std::vector<PlacementInput> Home::Impl::inputs_to_place(RowIndex row) const {
  std::vector<PlacementInput> inputs;
  for (const RowIndex input : input_rows(row)) {
    const RowIndex owner = owner_of(input);
    Blob blob = table[input].output.load();
    if (!blob && owner != input) blob = table[owner].output.load();
    PlacementInput& known = inputs.emplace_back();
    known.size_bytes = blob.size_bytes();
    if (blob) known.holders.push_back(options.self.process);
    const Fact* about = fact(owner);
    if (about == nullptr) continue;
    if (!blob) known.size_bytes = about->size_bytes;
    for (const Life holder : outputs.told_holders(owner)) {
      if (alive(holder)) known.holders.push_back(holder.process);
    }
  }
  return inputs;
}

/// Nothing: it may go to any of `places`, and is placed from here.
std::optional<FewPlaces> Home::Impl::narrowed(RowIndex row) const {
  if (is_call(row)) {
    const std::optional<Life>& place = objects.place_of(row);
    if (!place || !alive(*place)) return std::nullopt;
    return FewPlaces{{*place}, *place, "its job actor is at " + to_string(place->process)};
  }
  if (!crashes.keeps_away_from_the_record(row)) return std::nullopt;
  FewPlaces few{places, options.self, "may take the process down, and the job's record is there"};
  std::erase(few.lives, state.cell);
  if (!runs(few.here) || few.here == state.cell) few.here = few.lives.front();
  return few;
}

PlacedAttempt Home::Impl::place(RowIndex row) const {
  // Alone there is nothing to choose, and so nothing to be found out.
  std::vector<PlacementInput> inputs;
  if (places.size() > 1) inputs = inputs_to_place(row);
  const AttemptToPlace attempt{table.id(row), table.name_of(table[row]), table.policy_of(table[row]), inputs,
                               sink.enabled()};
  if (const auto few = narrowed(row)) return placement->place_attempt(attempt, few->lives, few->here);
  return placement->place_attempt(attempt, places, options.self);
}

/// The candidates of place(), and for each other process the reason against it.
std::vector<event::Candidate> Home::Impl::consider(RowIndex row) const {
  if (places.empty()) return {};
  std::vector<PlacementInput> inputs;
  if (word(row).state != RowState::waiting) inputs = inputs_to_place(row);
  const AttemptToPlace attempt{table.id(row), table.name_of(table[row]), table.policy_of(table[row]), inputs};
  const auto few = narrowed(row);
  if (!few) return placement->consider(attempt, places, options.self);
  auto candidates = placement->consider(attempt, few->lives, few->here);
  if (candidates.empty()) return candidates;
  for (const Life life : places) {
    const bool named = std::find(few->lives.begin(), few->lives.end(), life) != few->lives.end();
    if (!named) candidates.push_back({.process = life.process, .misfit = few->barred});
  }
  return candidates;
}

/// The home made a plain row ready. Most are for the lanes here; some are looked at when the event is over.
void Home::Impl::ready(RowIndex row) {
  if (spawned_parts.waits_for_credit(row)) return;
  const bool ask =
      places.size() > 1 &&
      placement->wants_to_place(table.name_of(table[row]), table.policy_of(table[row]), inputs_here(row));
  if (ask) {
    work.place(row);
  } else {
    effects.emplace_back(MakeReady{row, table.policy_of(table[row]).priority});
  }
}

/// No lane has heard of the row: it goes to one of ours, or elsewhere.
void Home::Impl::place_ready(RowIndex row) {
  if (word(row).state != RowState::ready) return;  // Closed, or counted again, in the same event.
  const Priority priority = table.policy_of(table[row]).priority;
  if (over || recounting()) {
    effects.emplace_back(MakeReady{row, priority});
    return;
  }
  PlacedAttempt placed = place(row);
  if (placed.at == options.self && inputs_here(row)) {
    if (placed.why) say(row, [&] { return std::move(*placed.why); });
    effects.emplace_back(MakeReady{row, priority});
    return;
  }
  const AttemptId id = issue(row, placed.at);
  if (placed.why) say(table.id(row), id, [&] { return std::move(*placed.why); });
  dispatch(row, placed.at, id, false, {}, nullptr);
}

void Home::Impl::observe(RowIndex row, Duration ran) {
  placement->ran(table.name_of(table[row]), ran, places.size() < 2 || is_call(row));
}

}  // namespace dag
