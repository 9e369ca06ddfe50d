// The rules of a copy of a log that hold between two events. Rules between copies are the simulator's
// (tools/sim/log_world_checks.cpp).

#include "libdag/base/check.hpp"
#include "libdag/consensus/replica.hpp"

namespace dag::consensus {

void Replica::check_invariants() const {
  check_log();
  check_disk();
  check_role();
  check_coming();
}

void Replica::check_log() const {
  if (!snapshot_) {
    DAG_CHECK(entries_.empty());
    DAG_CHECK(settled_ == 0);
    return;
  }
  DAG_CHECK(base_index_ <= snapshot_->index);
  DAG_CHECK(snapshot_->index <= settled_);
  DAG_CHECK(settled_ <= last_index());
  DAG_CHECK(configuration_index_ <= last_index());
  DAG_CHECK(configuration_index_ <= snapshot_->index ||
            entry(configuration_index_).type == EntryType::configuration);
  Term before = base_term_;
  for (const Entry& entry : entries_) {
    DAG_CHECK(entry.term >= before);
    before = entry.term;
  }
  DAG_CHECK(before <= vote_.term);
}

void Replica::check_disk() const {
  DAG_CHECK(on_disk_ <= last_index());
  DAG_CHECK(written_ <= writes_);
  for (const Held& promise : held_) DAG_CHECK(promise.number > written_ && promise.number <= writes_);
  for (const Unwritten& one : unwritten_) DAG_CHECK(one.number > written_ && one.number <= writes_);
}

void Replica::check_role() const {
  const bool leads = role_ == Role::leader;
  if (leads || role_ == Role::candidate) DAG_CHECK(vote_.candidate == self().node);
  if (!leads) {
    DAG_CHECK(progress_.empty());
    DAG_CHECK(reads_.empty());
    DAG_CHECK(!successor_);
    return;
  }
  DAG_CHECK(leader_ == self().node);
  DAG_CHECK(noop_ > 0 && noop_ <= last_index());
  for (const auto& [seat, progress] : progress_) {
    DAG_CHECK(seat.node != self().node);
    check_progress(progress);
  }
}

void Replica::check_progress(const Progress& progress) const {
  DAG_CHECK(progress.match <= last_index());
  DAG_CHECK(progress.next <= last_index() + 1);
  std::size_t bytes = 0;
  for (const auto& [last, size] : progress.in_flight) {
    DAG_CHECK(last < progress.next);
    bytes += size;
  }
  DAG_CHECK(bytes == progress.in_flight_bytes);
  DAG_CHECK(progress.snapshot_has <= progress.snapshot_sent);
}

void Replica::check_coming() const {
  if (!coming_) {
    DAG_CHECK(received_.empty());
    DAG_CHECK(ahead_.empty());
    return;
  }
  DAG_CHECK(received_.size() < coming_->size_bytes);
  DAG_CHECK(ahead_.size() <= options_.snapshot_pieces_in_flight);
  DAG_CHECK(ahead_.empty() || ahead_.begin()->first > received_.size());
}

}  // namespace dag::consensus
