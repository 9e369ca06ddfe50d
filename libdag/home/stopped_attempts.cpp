#include "libdag/home/stopped_attempts.hpp"

#include <algorithm>
#include <iterator>

#include "libdag/base/check.hpp"

namespace dag {

bool StoppedAttempts::holds(RowIndex row, const std::vector<Life>& lives, Instant now) const {
  const auto found = stopping_.find(row);
  return found != stopping_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&](const One& one) {
           return now < one.until && std::binary_search(lives.begin(), lives.end(), one.runner);
         });
}

bool StoppedAttempts::ended(RowIndex row, Life runner, AttemptId id) {
  const auto found = stopping_.find(row);
  if (found == stopping_.end()) return false;
  std::erase_if(found->second, [&](const One& one) { return one.id == id && one.runner == runner; });
  if (!found->second.empty()) return false;
  stopping_.erase(found);
  return true;
}

std::vector<RowIndex> StoppedAttempts::lives_left(const std::vector<Life>& lives) {
  return forget([&](const One& one) { return !std::binary_search(lives.begin(), lives.end(), one.runner); });
}

std::vector<RowIndex> StoppedAttempts::take_due(Instant now) {
  return forget([&](const One& one) { return one.until <= now; });
}

std::vector<RowIndex> StoppedAttempts::forget(const std::function<bool(const One&)>& is_over) {
  std::vector<RowIndex> rows;
  for (auto at = stopping_.begin(); at != stopping_.end();) {
    auto& [row, attempts] = *at;
    if (std::erase_if(attempts, is_over) > 0) rows.push_back(row);
    at = attempts.empty() ? stopping_.erase(at) : std::next(at);
  }
  return rows;
}

std::optional<Instant> StoppedAttempts::wake_at() const {
  std::optional<Instant> at;
  for (const auto& [row, attempts] : stopping_) {
    for (const One& one : attempts) {
      if (one.until < Instant{Duration::max()}) at = at ? std::min(*at, one.until) : one.until;
    }
  }
  return at;
}

void StoppedAttempts::check_invariants() const {
  for (const auto& [row, attempts] : stopping_) DAG_CHECK(!attempts.empty());
}

}  // namespace dag
