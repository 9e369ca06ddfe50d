#pragma once
// The wait for reports when a shard is counted again after a loss of its home. It exists only until they are
// in, and rows start only when it is over (recount.cpp).

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "libdag/base/ids.hpp"

namespace dag {

class Recount {
 public:
  /// The lives that are asked for a report.
  explicit Recount(std::set<Life> asked) : asked_(std::move(asked)) {}

  void reported(Life life) { asked_.erase(life); }
  /// `lives`, sorted, are those that are left: others will not report.
  void lives_left(const std::vector<Life>& lives) {
    std::erase_if(asked_, [&](Life life) { return !std::binary_search(lives.begin(), lives.end(), life); });
  }
  bool complete() const { return asked_.empty(); }

 private:
  std::set<Life> asked_;
};

}  // namespace dag
