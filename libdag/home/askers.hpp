#pragma once
// Questions for outputs that cannot be answered yet: the row has not ended, or its output is being made
// again.

#include <compare>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libdag/base/check.hpp"
#include "libdag/base/ids.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

/// An asker for an output. For a client alone no released output is made again.
struct Asker {
  Life life;
  OutputName asked;
  bool for_client = false;
  auto operator<=>(const Asker&) const = default;
};

class Askers {
 public:
  /// A question may be repeated; it gets one answer.
  void add(RowIndex row, const Asker& asker) { waiting_[row].insert(asker); }
  bool empty() const { return waiting_.empty(); }
  bool contains(RowIndex row) const { return waiting_.contains(row); }
  std::set<Asker> take(RowIndex row) {
    const auto waiting = waiting_.extract(row);
    return waiting ? std::move(waiting.mapped()) : std::set<Asker>{};
  }
  std::vector<RowIndex> rows() const {
    std::vector<RowIndex> rows;
    for (const auto& [row, askers] : waiting_) rows.push_back(row);
    return rows;
  }

  /// Throws Bug when a rule is broken.
  void check_invariants() const {
    for (const auto& [row, askers] : waiting_) DAG_CHECK(!askers.empty());
  }

 private:
  std::map<RowIndex, std::set<Asker>> waiting_;
};

}  // namespace dag
