#include "libdag/home/starts.hpp"

#include <algorithm>
#include <utility>

#include "libdag/base/check.hpp"

namespace dag {

namespace {

/// Interval of looks at a row that runs elsewhere and cannot be ended.
constexpr Duration look_again = std::chrono::milliseconds(100);

}  // namespace

void Starts::begin(RowIndex row) {
  starts_[row] = {true, true};
  ++open_;
}

void Starts::ended(RowIndex row) {
  const auto known = starts_.find(row);
  if (known != starts_.end() && std::exchange(known->second.ours, false)) --open_;
}

void Starts::taken_back(RowIndex row, bool lost) {
  const auto known = starts_.find(row);
  if (known != starts_.end()) known->second.may_run = !lost;
}

RowIndex Starts::take_next() {
  if (waiting_.empty() || !has_room()) return no_row;
  return waiting_.extract(waiting_.begin()).value();
}

void Starts::recounted(const std::vector<Life>& lives, Instant leases_over) {
  of_earlier_homes_.insert(lives.begin(), lives.end());
  earlier_over_at_ = leases_over;
}

void Starts::lives_left(const std::vector<Life>& lives, Instant leases_over) {
  const auto gone = [&](Life life) { return !std::binary_search(lives.begin(), lives.end(), life); };
  if (std::erase_if(of_earlier_homes_, gone) > 0) earlier_over_at_ = leases_over;
}

bool Starts::waits_for_lease(const Wish& wish, Instant now) {
  const auto lost = leases_over_at_.find(wish.row);
  Instant until = lost == leases_over_at_.end() ? Instant{} : lost->second;
  const auto started = starts_.find(wish.row);
  const bool here_alone = started != starts_.end() && started->second.ours && !wish.again;
  if (!here_alone) until = std::max(until, earlier_over_at_);
  if (wish.runs_elsewhere) until = std::max(until, now + look_again);
  if (now < until) {
    leases_awaited_[wish.row] = until;
    return true;
  }
  if (lost != leases_over_at_.end()) leases_over_at_.erase(lost);
  leases_awaited_.erase(wish.row);
  return false;
}

std::vector<RowIndex> Starts::take_leases_over(Instant now) {
  std::vector<RowIndex> over;
  for (const auto& [row, until] : leases_awaited_) {
    if (until <= now) over.push_back(row);
  }
  for (const RowIndex row : over) leases_awaited_.erase(row);
  return over;
}

std::optional<Instant> Starts::wake_at() const {
  std::optional<Instant> at;
  for (const auto& [row, until] : leases_awaited_) at = at ? std::min(*at, until) : until;
  return at;
}

void Starts::check_invariants() const {
  std::uint32_t ours = 0;
  for (const auto& [row, start] : starts_) ours += start.ours ? 1 : 0;
  DAG_CHECK(ours == open_);
  DAG_CHECK(open_ <= lanes_ + 1);
}

}  // namespace dag
