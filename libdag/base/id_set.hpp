#pragma once
// A set of mostly consecutive numbers: the finished jobs of a node. Memory: by the gaps.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace dag {

class IdSet {
 public:
  void insert(std::uint64_t id) { insert(id, id); }
  /// All from first to last.
  void insert(std::uint64_t first, std::uint64_t last) {
    auto after = ranges_.upper_bound(first);
    if (after != ranges_.begin()) {
      const auto before = std::prev(after);
      if (before->second >= last) return;
      if (before->second + 1 >= first) {
        first = before->first;
        after = before;
      }
    }
    while (after != ranges_.end() && (after->first <= last || after->first == last + 1)) {
      last = std::max(last, after->second);
      after = ranges_.erase(after);
    }
    ranges_.emplace_hint(after, first, last);
  }

  bool contains(std::uint64_t id) const {
    const auto after = ranges_.upper_bound(id);
    return after != ranges_.begin() && std::prev(after)->second >= id;
  }
  bool empty() const { return ranges_.empty(); }
  /// First and last of each run, in order; no two touch.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges() const {
    return {ranges_.begin(), ranges_.end()};
  }
  bool operator==(const IdSet&) const = default;

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

}  // namespace dag
