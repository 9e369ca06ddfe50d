// The rules of a cell that hold between two events.

#include <algorithm>
#include <bit>

#include "libdag/base/check.hpp"
#include "libdag/base/spawned.hpp"
#include "libdag/cell/cell.hpp"

namespace dag {

void Cell::check_invariants() const {
  check_members();
  check_homes();
  check_counts();
  check_memory();
  steps_.check_invariants(*this);
}

void Cell::check_members() const {
  const std::vector<Life>& lives = state_.lives;
  DAG_CHECK(std::is_sorted(lives.begin(), lives.end()));
  const auto one_process = [](Life one, Life other) { return one.process == other.process; };
  DAG_CHECK(std::adjacent_find(lives.begin(), lives.end(), one_process) == lives.end());
  for (const Life life : lives) {
    const auto dead = gone_.find(life.process);
    DAG_CHECK(dead == gone_.end() || dead->second < life.incarnation);
  }
  DAG_CHECK(std::is_sorted(state_.recorders.begin(), state_.recorders.end()));
  if (is_closed()) return;
  for (const Life recorder : state_.recorders) DAG_CHECK(alive(recorder));
}

void Cell::check_homes() const {
  const bool has_begun = state_.version > 0;
  DAG_CHECK(state_.homes.size() == plan_->shards || (!has_begun && state_.homes.empty()));
  if (!has_begun) return;
  const bool has_places = !state_.ended && !message::lives_that_run(state_).empty();
  for (std::uint32_t shard = 0; shard < plan_->shards; ++shard) {
    const message::ShardHome& home = state_.homes[shard];
    DAG_CHECK(!has_places || alive(home.home));  // No shard waits for a home that could have one.
    DAG_CHECK(home.epoch.count <= epochs_max);
    const Stream& stream = streams_[shard];
    DAG_CHECK(stream.heard == (stream.outcomes > 0));
    DAG_CHECK(stream.heard || stream.rows_open == 0);
  }
}

void Cell::check_counts() const {
  DAG_CHECK(counts_.settled == counts_.finished + counts_.failed + counts_.skipped + counts_.cancelled);
  DAG_CHECK(counts_.tolerated <= counts_.failed);
  DAG_CHECK(counts_.missed <= counts_.skipped);
  DAG_CHECK(done_ || !state_.ended);
  DAG_CHECK(state_.ended || !state_.stopped);
  DAG_CHECK(done_ || !is_heard_of_all() || rows_open() > 0);  // A job ends as soon as nothing is open.
}

/// Each settled task is remembered once, and nothing else of it than its outcome.
void Cell::check_memory() const {
  std::uint64_t remembered = settled_.size();
  for (const auto& [epoch, known] : first_try_) {
    for (const std::uint64_t word : known) remembered += static_cast<std::uint64_t>(std::popcount(word));
  }
  DAG_CHECK(remembered <= counts_.settled);
  for (const auto& [task, failed] : tried_) DAG_CHECK(!settled(task));
  for (const TaskId task : started_) DAG_CHECK(!settled(task));
  if (!recountable_) return;
  DAG_CHECK(remembered == counts_.settled);
  std::size_t logged = 0;
  for (const std::vector<TaskId>& tasks : log_) logged += tasks.size();
  DAG_CHECK(logged == grown_.size() + settled_.size());
}

}  // namespace dag
