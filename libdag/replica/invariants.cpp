// The rules of a cell's copy that hold between two events.

#include <algorithm>

#include "libdag/base/check.hpp"
#include "libdag/replica/cell_replica.hpp"

namespace dag {

void CellReplica::check_invariants() const {
  log_.check_invariants();
  if (cell_) cell_->check_invariants();
  DAG_CHECK((cell_ != nullptr) == log_.snapshot().has_value());
  DAG_CHECK(applied_ == log_.settled());  // The cell is what the settled log made of it.
  if (cell_) DAG_CHECK(applied_ < compact_at_ || !is_long());
  check_leads();
  check_lives();
}

void CellReplica::check_leads() const {
  const bool is_leader = log_.role() == consensus::Replica::Role::leader;
  DAG_CHECK(is_leader || waiting_.empty());
  if (leads_) {
    DAG_CHECK(is_leader && cell_ && tells_);
    DAG_CHECK(cell_->state().cell == options_.self);
    DAG_CHECK(cell_->state().term == log_.term());
    return;
  }
  DAG_CHECK(leases_asked_.empty());
  DAG_CHECK(clients_.empty());
}

void CellReplica::check_lives() const {
  DAG_CHECK(up_.contains(options_.self));
  DAG_CHECK(std::includes(up_.begin(), up_.end(), take_part_.begin(), take_part_.end()));
  for (const Life life : up_) {
    const auto dead = down_.find(life.process);
    DAG_CHECK(dead == down_.end() || dead->second < life.incarnation);
  }
  for (const auto& [life, how] : ends_) {
    DAG_CHECK(!up_.contains(life));
    DAG_CHECK(cell_ && is_member(life));  // The cell still has to hear of it.
  }
}

}  // namespace dag
