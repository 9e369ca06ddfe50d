#include "libdag/home/earlier_attempts.hpp"

#include <algorithm>
#include <iterator>

#include "libdag/base/check.hpp"

namespace dag {

void EarlierAttempts::add(RowIndex row, Offer offer) {
  Offers& known = offers_[row];
  const bool repeated = std::any_of(known.begin(), known.end(), [&](const Offer& other) {
    return other.from == offer.from && other.running == offer.running &&
           other.record.name() == offer.record.name();
  });
  if (!repeated) known.push_back(std::move(offer));
}

const EarlierAttempts::Offers& EarlierAttempts::offers_of(RowIndex row) const {
  static const Offers none;
  const auto found = offers_.find(row);
  return found == offers_.end() ? none : found->second;
}

EarlierAttempts::Offers EarlierAttempts::take(RowIndex row) {
  const auto found = offers_.find(row);
  if (found == offers_.end()) return {};
  Offers taken = std::move(found->second);
  offers_.erase(found);
  return taken;
}

EarlierAttempts::Offers EarlierAttempts::take_if(RowIndex row, bool running) {
  const auto found = offers_.find(row);
  if (found == offers_.end()) return {};
  Offers& known = found->second;
  const auto others = std::stable_partition(known.begin(), known.end(),
                                            [&](const Offer& offer) { return offer.running != running; });
  Offers taken(std::make_move_iterator(others), std::make_move_iterator(known.end()));
  known.erase(others, known.end());
  return taken;
}

std::vector<RowIndex> EarlierAttempts::rows() const {
  std::vector<RowIndex> rows;
  for (const auto& [row, offers] : offers_) rows.push_back(row);
  return rows;
}

void EarlierAttempts::overtake(const OutputName& attempt) {
  came_back_.insert(attempt);
  overtaken_.insert(attempt);
}

bool EarlierAttempts::still_runs(RowIndex row, const std::vector<Life>& lives) const {
  const auto found = running_.find(row);
  if (found == running_.end()) return false;
  const auto& [at, attempt] = found->second;
  return std::binary_search(lives.begin(), lives.end(), at) && !is_back(attempt);
}

void EarlierAttempts::check_invariants() const {
  for (const OutputName& attempt : overtaken_) DAG_CHECK(is_back(attempt));
  for (const auto& [row, offers] : offers_) {
    for (const Offer& offer : offers) DAG_CHECK(!offer.running || offer.record.outcome == Outcome::none);
  }
}

}  // namespace dag
