#pragma once
// Spawned parts that the record does not have yet, and the rows that wait for credit until it has more of
// them (job/spawn_credit.hpp).

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "libdag/base/check.hpp"
#include "libdag/job/spawn_credit.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

class SpawnedAhead {
 public:
  explicit SpawnedAhead(SpawnCredit credit) : credit_(credit) {}

  // ---- Parts, by their number in the table
  void add(std::uint32_t part, SpawnLoad load) { load_ += parts_[part] = load; }
  /// The part is in the Outcomes of that number.
  void told(std::uint32_t part, std::uint64_t outcomes) { told_.emplace_back(outcomes, part); }
  /// The record has the Outcomes up to that number.
  void recorded(std::uint64_t outcomes) {
    for (; !told_.empty() && told_.front().first <= outcomes; told_.pop_front()) forget(told_.front().second);
  }
  /// The part is in flight no more: the record has it, or it has vanished.
  void forget(std::uint32_t part) {
    const auto found = parts_.find(part);
    if (found == parts_.end()) return;
    load_ -= found->second;
    parts_.erase(found);
  }
  SpawnLoad load() const { return load_; }

  // ---- Rows that start when there is credit
  bool has_credit() const { return credit_.left(load_); }
  void await_credit(RowIndex row) { waiting_.insert(row); }
  bool awaits_credit(RowIndex row) const { return waiting_.contains(row); }
  /// The next row that waits for credit, if there is credit; no_row: none.
  RowIndex take_next() {
    return waiting_.empty() || !has_credit() ? no_row : waiting_.extract(waiting_.begin()).value();
  }

  /// Throws Bug when a rule is broken.
  void check_invariants() const {
    SpawnLoad sum;
    for (const auto& [part, load] : parts_) sum += load;
    DAG_CHECK(sum == load_);
  }

 private:
  const SpawnCredit credit_;
  std::map<std::uint32_t, SpawnLoad> parts_;
  SpawnLoad load_;  ///< of all parts
  /// With the number of the Outcomes; ascending.
  std::deque<std::pair<std::uint64_t, std::uint32_t>> told_;
  std::set<RowIndex> waiting_;
};

}  // namespace dag
