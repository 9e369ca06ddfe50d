#pragma once
// The report of a lane to the home of a shard, in batches: bare rows that the lane ended by itself, and rows
// that the home has to decide.

#include <memory>
#include <vector>

#include "libdag/job/attempt.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

/// A lane ran a bare row to its end and satisfied its local strong edges. The row's word and output say the
/// rest.
struct QuickEnd {
  RowIndex row = no_row;
  std::uint32_t attempt = 0;
  Duration ran{0};
};

/// A bare row whose end is not plain: its kernel threw, spawned, or became another task; or the gate was
/// closed. The row is still `running`; the home ends or retries it.
struct SlowEnd {
  RowIndex row = no_row;
  std::uint32_t attempt = 0;
  AttemptEnd ended;
  /// Credit for the spawned tasks: given back when destroyed (actors/lanes/spawn_credits.hpp). May be null.
  std::shared_ptr<const void> credit = {};
};

struct LaneReport {
  std::uint32_t lane = 0;
  std::vector<QuickEnd> quick;
  std::vector<SlowEnd> slow;
  std::vector<RowIndex> decide;  ///< rows whose last edge was satisfied and that are not plain
  /// Ready rows whose inputs do not all lie in this process; the lane took them back (they are held).
  std::vector<RowIndex> missing_inputs;

  /// Rows of other shards that the lane was told of (edge_news.hpp): ended, their local strong edges
  /// satisfied.
  std::vector<RowIndex> ghosts;

  bool empty() const { return size() == 0; }
  /// There is nothing but `quick`.
  bool others_empty() const {
    return slow.empty() && decide.empty() && missing_inputs.empty() && ghosts.empty();
  }
  std::size_t size() const {
    return quick.size() + slow.size() + decide.size() + missing_inputs.size() + ghosts.size();
  }
};

}  // namespace dag
