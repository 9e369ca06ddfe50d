#include "libdag/home/retries.hpp"

#include <utility>

#include "libdag/supervision/blame.hpp"

namespace dag {

std::uint32_t Retries::failed(RowIndex row) const {
  const auto tried = tries_.find(row);
  return tried == tries_.end() ? 0 : tried->second.failed;
}

const Error* Retries::newest_failure(RowIndex row) const {
  const auto found = newest_failure_.find(row);
  return found == newest_failure_.end() ? nullptr : &found->second;
}

bool Retries::crashed_too_often(RowIndex row) const {
  const std::uint32_t times = crashes_.times(row);
  if (times == 0) return false;
  if (gives_up_early_ && times >= quarantined_after) return true;
  return charged(row) >= rows_.retry_of(row).attempts;
}

NextTry Retries::on_failed(RowIndex row, const Error& why, Random& random) {
  Tries& tried = tries_[row];
  Tries with_crashes{tried.failed + crashes_.times(row), tried.lost};
  ++tried.failed;
  const NextTry next = next_retry(rows_.retry_of(row), with_crashes, Exit::failed, random);
  if (std::holds_alternative<RetryAfter>(next)) newest_failure_[row] = why;
  return next;
}

bool Retries::on_lost(RowIndex row, Random& random) {
  const NextTry next = next_retry(rows_.retry_of(row), tries_[row], Exit::lost, random);
  return std::holds_alternative<RetryAfter>(next);
}

bool Retries::forget_failed(RowIndex row) {
  const auto tried = tries_.find(row);
  return tried != tries_.end() && std::exchange(tried->second.failed, 0) > 0;
}

bool Retries::pause_after_crash(RowIndex row, Instant now, Random& random) {
  const Retry& retry = rows_.table.policy_of(rows_.table[row]).retry;
  const Duration length = backoff_after(retry, crashes_.times(row), random);
  if (length > Duration{0} && !is_pausing(row)) pause(row, now + length);
  return is_pausing(row);
}

void Retries::check_invariants() const {
  for (const auto& [row, tried] : tries_) {
    DAG_CHECK(!rows_.table[row].ghost);
  }
  for (const auto& [row, why] : newest_failure_) DAG_CHECK(any(row));
}

}  // namespace dag
