#pragma once
// The calls of a job actor in the order in which they run, and where each of them is. An actor that trains
// for days has many, and every one that ends asks where it was.

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "libdag/rows/row_table.hpp"

namespace dag {

class CallOrder {
 public:
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  RowIndex operator[](std::size_t place) const { return rows_[place]; }
  RowIndex front() const { return rows_.front(); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

  /// size() when it is not among them.
  std::size_t place_of(RowIndex row) const {
    const auto found = places_.find(row);
    return found == places_.end() ? size() : found->second;
  }
  /// Costs as much as there are behind it.
  void insert(std::size_t place, RowIndex row) {
    rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(place), row);
    count_from(place);
  }
  void erase(RowIndex row) {
    const std::size_t place = place_of(row);
    places_.erase(row);
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(place));
    count_from(place);
  }

 private:
  void count_from(std::size_t place) {
    for (; place < rows_.size(); ++place) places_[rows_[place]] = place;
  }

  std::vector<RowIndex> rows_;
  std::unordered_map<RowIndex, std::size_t> places_;
};

inline bool has_calls(const detail::Fragment& fragment) {
  return std::any_of(fragment.kinds.begin(), fragment.kinds.end(),
                     [](const detail::TaskKind& kind) { return kind.call != detail::CallKind::ordinary; });
}

}  // namespace dag
