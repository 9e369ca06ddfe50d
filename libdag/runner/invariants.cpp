// The rules of a runner that hold between two events.

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/runner/runner.hpp"

namespace dag {

void Runner::check_invariants() const {
  if (state_.ended) check_over();
  check_held();
  check_attempts();
  check_sought();
}

/// A job that is over leaves nothing here.
void Runner::check_over() const {
  DAG_CHECK(attempts_.empty());
  DAG_CHECK(stopping_.empty());
  DAG_CHECK(ends_.empty());
  DAG_CHECK(sought_.empty());
  DAG_CHECK(held_.empty());
  DAG_CHECK(accepted_.empty());
}

void Runner::check_held() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, held] : held_) {
    DAG_CHECK(held.record.name() == name);
    DAG_CHECK(!held.record.digest_follows || held.record.digest == 0);
    bytes += held.bytes.size_bytes();
  }
  DAG_CHECK(bytes == bytes_held_);
}

void Runner::check_attempts() const {
  for (const auto& [name, taken] : attempts_) check_attempt(name, taken);
  for (const message::Ended& told : ends_) DAG_CHECK(told.shard < state_.homes.size());
}

void Runner::check_attempt(const OutputName& name, const Taken& taken) const {
  const Attempt& attempt = taken.lend.attempt;
  DAG_CHECK(attempt.task == name.task && attempt.id == name.attempt);
  DAG_CHECK(!stopping_.contains(name));
  DAG_CHECK(taken.checkpoints <= checkpoints_per_attempt);
  // An attempt is started as soon as its inputs are here, unless it needs a lease.
  DAG_CHECK(!taken.started || taken.open.empty());
  DAG_CHECK(taken.started || !taken.open.empty() || needs_lease(taken));
  for (const std::uint32_t place : taken.open) {
    DAG_CHECK(place < taken.lend.wanted.size());
    const auto sought = sought_.find(taken.lend.wanted[place].name);
    DAG_CHECK(sought != sought_.end());
    DAG_CHECK(sought->second.attempts.contains(name));
  }
  if (!taken.started || attempt.call == detail::CallKind::ordinary) return;
  const auto newest = generations_.find(attempt.actor);
  DAG_CHECK(newest != generations_.end());
  DAG_CHECK(newest->second == attempt.generation);
}

void Runner::check_sought() const {
  for (const auto& [name, sought] : sought_) {
    const auto is_holder = [&holders = sought.holders](Life life) {
      return std::find(holders.begin(), holders.end(), life) != holders.end();
    };
    DAG_CHECK(!sought.asked || is_holder(*sought.asked));
    DAG_CHECK(!sought.asked || !sought.home_asked);  // Questions go out one at a time.
    DAG_CHECK(std::none_of(sought.gone.begin(), sought.gone.end(), is_holder));
    for (const OutputName& waits : sought.attempts) {
      const auto taken = attempts_.find(waits);
      DAG_CHECK(taken != attempts_.end());
      DAG_CHECK(!taken->second.started);
    }
  }
}

}  // namespace dag
