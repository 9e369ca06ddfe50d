#pragma once
// The parts of the graph that attempts spawned: whose attempt each belongs to, the ids of their tasks, and
// which of them the record does not have yet. Rows wait for credit until it has more of them
// (job/spawn_credit.hpp).

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libdag/base/check.hpp"
#include "libdag/base/spawned.hpp"
#include "libdag/job/spawn_credit.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

class SpawnedParts {
 public:
  /// `first_id`: of this epoch (first_spawned_of).
  SpawnedParts(SpawnCredit credit, TaskId first_id) : credit_(credit), first_id_(first_id) {}

  // ---- Parts, by their number in the table
  /// The next part. `parent`: the row whose attempt spawned it; no_row: it is the submitted graph.
  void add(std::uint32_t part, RowIndex parent) {
    DAG_CHECK(parents_.size() == part);
    parents_.push_back(parent);
  }
  RowIndex parent_of(std::uint32_t part) const { return parents_[part]; }
  /// The first of so many ids that follow each other; nothing: this epoch has not so many any more.
  std::optional<TaskId> take_ids(std::uint32_t count) {
    if (count > ids_max - ids_taken_) return std::nullopt;
    TaskId first = first_id_;
    first.index += std::exchange(ids_taken_, ids_taken_ + count);
    return first;
  }

  // ---- Parts that the record does not have
  void went_ahead(std::uint32_t part, SpawnLoad load) { load_ += ahead_[part] = load; }
  /// The part is in the Outcomes of that number.
  void told(std::uint32_t part, std::uint64_t outcomes) { told_.emplace_back(outcomes, part); }
  /// The record has the Outcomes up to that number.
  void recorded(std::uint64_t outcomes) {
    for (; !told_.empty() && told_.front().first <= outcomes; told_.pop_front()) forget(told_.front().second);
  }
  /// The part is in flight no more: the record has it, or it has vanished.
  void forget(std::uint32_t part) {
    const auto found = ahead_.find(part);
    if (found == ahead_.end()) return;
    load_ -= found->second;
    ahead_.erase(found);
  }
  SpawnLoad load_ahead() const { return load_; }

  // ---- Rows that start when there is credit
  bool has_credit() const { return credit_.left(load_); }
  /// True: the row waits, since spawned tasks are too far ahead of the record.
  bool waits_for_credit(RowIndex row) {
    if (has_credit()) return false;
    waiting_.insert(row);
    return true;
  }
  bool awaits_credit(RowIndex row) const { return waiting_.contains(row); }
  /// The next row that waits for credit, if there is credit; no_row: none.
  RowIndex take_next() {
    return waiting_.empty() || !has_credit() ? no_row : waiting_.extract(waiting_.begin()).value();
  }

  /// Throws Bug when a rule is broken.
  void check_invariants() const {
    SpawnLoad sum;
    for (const auto& [part, load] : ahead_) {
      DAG_CHECK(part < parents_.size() && parents_[part] != no_row);
      sum += load;
    }
    DAG_CHECK(sum == load_);
  }

 private:
  static constexpr std::uint32_t ids_max = 1u << spawned_block_bits;

  const SpawnCredit credit_;
  const TaskId first_id_;
  std::vector<RowIndex> parents_;  ///< per part
  std::uint32_t ids_taken_ = 0;
  std::map<std::uint32_t, SpawnLoad> ahead_;
  SpawnLoad load_;  ///< of all that are ahead
  /// With the number of the Outcomes; ascending.
  std::deque<std::pair<std::uint64_t, std::uint32_t>> told_;
  std::set<RowIndex> waiting_;
};

}  // namespace dag
