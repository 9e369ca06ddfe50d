#pragma once
// Sums of the outputs that a process holds, by the names of their tasks. Homes and the runner add theirs;
// memory that both hold counts once. Small outputs lie in their Blobs, so each of them counts.

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "dag/blob.hpp"
#include "libdag/job/explained.hpp"

namespace dag {

class HeldSum {
 public:
  void add(const std::string& name, const Blob& bytes) {
    if (!bytes) return;
    const bool shared = bytes.size_bytes() > Blob::inline_bytes_max;
    if (shared && !counted_.insert(bytes.bytes().data()).second) return;
    const bool named = sums_.size() < names_max || sums_.contains(name);
    HeldOutputs& sum = sums_[named ? name : std::string()];
    ++sum.outputs;
    sum.bytes += bytes.size_bytes();
  }
  /// The names with most bytes first, at most held_names_max; the others together, last and without a name.
  std::vector<HeldOutputs> take() {
    std::vector<HeldOutputs> held;
    HeldOutputs others;
    if (const auto unnamed = sums_.extract(std::string())) others = unnamed.mapped();
    for (auto& [name, sum] : sums_) held.push_back({name, sum.outputs, sum.bytes});
    std::stable_sort(held.begin(), held.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    while (held.size() > held_names_max) {
      others.outputs += held.back().outputs;
      others.bytes += held.back().bytes;
      held.pop_back();
    }
    if (others.outputs > 0) held.push_back({{}, others.outputs, others.bytes});
    return held;
  }

 private:
  /// Names are users': there may be as many as tasks.
  static constexpr std::size_t names_max = 4096;
  std::map<std::string, HeldOutputs> sums_;
  std::unordered_set<const std::byte*> counted_;
};

}  // namespace dag
