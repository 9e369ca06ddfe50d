#include "libdag/home/outputs.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libdag/base/check.hpp"

namespace dag {

const std::vector<Life>& Outputs::told_holders(RowIndex row) const {
  static const std::vector<Life> none;
  const auto found = places_.find(row);
  return found == places_.end() ? none : found->second.holders;
}

std::vector<Life> Outputs::holders(RowIndex row) const {
  std::vector<Life> holders;
  if (rows_.table[row].output.load()) holders.push_back(self_);
  for (const Life holder : told_holders(row)) {
    if (alive(holder) && std::find(holders.begin(), holders.end(), holder) == holders.end()) {
      holders.push_back(holder);
    }
  }
  return holders;
}

bool Outputs::available(RowIndex row) const {
  if (rows_.table[row].output.load()) return true;
  const std::vector<Life>& holders = told_holders(row);
  return std::any_of(holders.begin(), holders.end(), [&](Life holder) { return alive(holder); });
}

void Outputs::add_holder(RowIndex row, Life holder) {
  std::vector<Life>& holders = places_[row].holders;
  if (std::find(holders.begin(), holders.end(), holder) == holders.end()) holders.push_back(holder);
}

bool Outputs::drop_holder(RowIndex row, Life holder) {
  const auto found = places_.find(row);
  if (found == places_.end()) return false;
  const bool dropped = std::erase(found->second.holders, holder) > 0;
  drop_if_empty(found);
  return dropped;
}

void Outputs::set_holders(RowIndex row, std::vector<Life> holders) {
  const auto found = places_.find(row);
  if (found == places_.end() && holders.empty()) return;
  const auto at = found == places_.end() ? places_.emplace(row, Places{}).first : found;
  at->second.holders = std::move(holders);
  drop_if_empty(at);
}

std::optional<Life> Outputs::take_keeper(RowIndex row) {
  const auto found = places_.find(row);
  if (found == places_.end()) return std::nullopt;
  const std::optional<Life> keeper = std::exchange(found->second.keeper, std::nullopt);
  drop_if_empty(found);
  return keeper;
}

void Outputs::release_keeper(RowIndex row, const OutputName& name) {
  if (const std::optional<Life> keeper = take_keeper(row)) release(*keeper, name);
}

void Outputs::record_settled(RowIndex row, const OutputName& name) {
  const auto found = places_.find(row);
  if (found == places_.end() || !found->second.keeper) return;
  const std::vector<Life>& holders = found->second.holders;
  const bool holds = std::find(holders.begin(), holders.end(), *found->second.keeper) != holders.end();
  if (!holds) release_keeper(row, name);
}

void Outputs::release(Life at, const OutputName& name) {
  if (alive(at)) releases_[at].push_back(name);
}

void Outputs::release_all(RowIndex row, const OutputName& name) {
  const auto found = places_.find(row);
  if (found == places_.end()) return;
  const auto [holders, keeper] = std::move(found->second);
  places_.erase(found);
  for (const Life holder : holders) release(holder, name);
  const bool holds = keeper && std::find(holders.begin(), holders.end(), *keeper) != holders.end();
  if (keeper && !holds) release(*keeper, name);
}

Outputs::Releases Outputs::take_releases() {
  Releases taken = std::exchange(releases_, {});
  std::erase_if(taken, [&](const auto& one) { return !alive(one.first); });
  return taken;
}

bool Outputs::await_copy(RowIndex row, std::optional<Life> at) {
  return std::exchange(copies_[row], at) != at && at;
}

bool Outputs::awaits_copy(RowIndex row) const {
  const auto found = copies_.find(row);
  return found != copies_.end() && found->second;
}

bool Outputs::copy_made(RowIndex row, Life at) {
  const auto found = copies_.find(row);
  if (found == copies_.end() || found->second != at) return false;
  found->second.reset();
  return true;
}

std::vector<RowIndex> Outputs::rows_with_copies() const {
  std::vector<RowIndex> rows;
  for (const auto& [row, asked] : copies_) rows.push_back(row);
  return rows;
}

void Outputs::lives_changed() {
  const auto gone = [&](Life life) { return !alive(life); };
  for (auto at = places_.begin(); at != places_.end();) {
    auto& [holders, keeper] = at->second;
    std::erase_if(holders, gone);
    if (keeper && gone(*keeper)) keeper.reset();
    at = holders.empty() && !keeper ? places_.erase(at) : std::next(at);
  }
  for (auto& [row, asked] : copies_) {
    if (asked && gone(*asked)) asked.reset();
  }
}

void Outputs::check_invariants() const {
  for (const auto& [row, places] : places_) {
    DAG_CHECK(!places.holders.empty() || places.keeper);
    DAG_CHECK(rows_.is(row, flag::known));
    for (auto holder = places.holders.begin(); holder != places.holders.end(); ++holder)
      DAG_CHECK(std::find(places.holders.begin(), holder, *holder) == holder);
  }
  for (const auto& [row, asked] : copies_) DAG_CHECK(rows_.varies(row));
}

}  // namespace dag
