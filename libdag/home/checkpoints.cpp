#include "libdag/home/checkpoints.hpp"

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/home/copies.hpp"

namespace dag {
namespace {

constexpr std::size_t kept_per_row = 2;
/// When copies are slow to come. More are dropped, the oldest first.
constexpr std::size_t kept_per_row_max = 4;

void add_once(std::vector<Life>& holders, Life holder) {
  if (std::find(holders.begin(), holders.end(), holder) == holders.end()) holders.push_back(holder);
}

}  // namespace

bool Checkpoints::may_be_kept(RowIndex row) const {
  return row != no_row && !rows_.table[row].ghost && !rows_.is(row, flag::vanished | flag::settled) &&
         !rows_.is_call(row) && rows_.table.policy_of(rows_.table[row]).checkpoint;
}

Checkpoints::Added Checkpoints::add(const OutcomeRecord& record, Life holder) {
  const RowIndex row = rows_.table.find(record.task);
  if (!may_be_kept(row)) return {};
  std::vector<RowCheckpoint>& saved = saved_[row];
  const auto at =
      std::lower_bound(saved.begin(), saved.end(), record.attempt,
                       [](const RowCheckpoint& one, AttemptId id) { return one.record.attempt < id; });
  const bool is_new = at == saved.end() || at->record.attempt != record.attempt;
  if (is_new) {
    saved.insert(at, {record, {holder}});
  } else {
    add_once(at->holders, holder);
  }
  drop_older(saved);
  return {is_new, find(record.name()) != nullptr};
}

void Checkpoints::copy_made(const OutputName& name, Life holder) {
  RowCheckpoint* const known = find(name);
  if (known == nullptr) return outputs_.release(holder, name);
  add_once(known->holders, holder);
  drop_older(saved_.at(rows_.table.find(name.task)));
}

void Checkpoints::forget(const OutputName& name) {
  const auto found = saved_.find(rows_.table.find(name.task));
  if (found == saved_.end()) return;
  std::erase_if(found->second, [&](const RowCheckpoint& one) { return one.record.attempt == name.attempt; });
  if (found->second.empty()) saved_.erase(found);
}

void Checkpoints::release_all(RowIndex row) {
  if (saved_.empty()) return;
  const auto found = saved_.find(row);
  if (found == saved_.end()) return;
  for (const RowCheckpoint& one : found->second) {
    for (const Life holder : one.holders) outputs_.release(holder, one.record.name());
  }
  saved_.erase(found);
}

void Checkpoints::lives_changed() {
  const auto gone = [&](Life life) { return !message::is_alive(state_, life); };
  for (auto& [row, saved] : saved_) {
    for (RowCheckpoint& one : saved) std::erase_if(one.holders, gone);
    std::erase_if(saved, [](const RowCheckpoint& one) { return one.holders.empty(); });
  }
  std::erase_if(saved_, [](const auto& of_row) { return of_row.second.empty(); });
}

const RowCheckpoint* Checkpoints::found_gone(const OutputName& name, const std::vector<Life>& gone) {
  RowCheckpoint* const known = find(name);
  if (known == nullptr) return nullptr;
  for (const Life life : gone) std::erase(known->holders, life);
  return known;
}

const RowCheckpoint* Checkpoints::newest_for(RowIndex row, const std::vector<OutputName>& inputs) const {
  const auto found = saved_.find(row);
  if (found == saved_.end()) return nullptr;
  const bool any_inputs = is_planted(options_.planted, PlantedInHome::checkpoint_of_other_inputs);
  for (auto one = found->second.rbegin(); one != found->second.rend(); ++one) {
    const bool fits = one->record.inputs == inputs && rows_.names_hold(one->record.inputs);
    if (!one->holders.empty() && (fits || any_inputs)) return &*one;
  }
  return nullptr;
}

std::vector<Life> Checkpoints::lacks_copies_of(const RowCheckpoint& checkpoint) const {
  if (!options_.several_processes) return {};
  return lacks_copies(state_, options_.self, checkpoint.holders);
}

RowCheckpoint* Checkpoints::find(const OutputName& name) {
  const auto found = saved_.find(rows_.table.find(name.task));
  if (found == saved_.end()) return nullptr;
  const auto at = std::find_if(found->second.begin(), found->second.end(),
                               [&](const RowCheckpoint& one) { return one.record.attempt == name.attempt; });
  return at == found->second.end() ? nullptr : &*at;
}

void Checkpoints::drop_older(std::vector<RowCheckpoint>& saved) {
  const auto safe = [&](const RowCheckpoint& one) { return lacks_copies_of(one).empty(); };
  while (saved.size() > kept_per_row) {
    const bool others_do = std::any_of(saved.end() - kept_per_row, saved.end(), safe);
    if (!others_do && saved.size() <= kept_per_row_max) return;
    for (const Life holder : saved.front().holders) outputs_.release(holder, saved.front().record.name());
    saved.erase(saved.begin());
  }
}

void Checkpoints::check_invariants() const {
  for (const auto& [row, saved] : saved_) {
    DAG_CHECK(may_be_kept(row));
    DAG_CHECK(!saved.empty());
    DAG_CHECK(saved.size() <= kept_per_row_max);
    for (std::size_t i = 0; i < saved.size(); ++i) {
      DAG_CHECK(saved[i].record.task == rows_.table.id(row));
      DAG_CHECK(i == 0 || saved[i - 1].record.attempt < saved[i].record.attempt);
      std::vector<Life> holders = saved[i].holders;
      std::sort(holders.begin(), holders.end());
      DAG_CHECK(std::adjacent_find(holders.begin(), holders.end()) == holders.end());
    }
  }
}

}  // namespace dag
