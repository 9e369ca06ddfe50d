#pragma once
// The flat form of the part of a graph that a shard runs: rows with numbers of their own, edges between rows,
// and all that the graph says about a row for good. It is made once for a graph and a sharding and never
// changes, so a graph that is submitted again is not walked again: a table takes its rows from here
// (row_table.hpp), and a home its notes.
//
// Two walks over the edges make it: the first counts the successors of each row, the second puts them down. A
// third is for graphs with edges that are not strong, or with tasks that start from settled inputs.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dag/detail/fragment.hpp"
#include "libdag/graph/partition.hpp"

namespace dag {

using RowIndex = std::uint32_t;
inline constexpr RowIndex no_row = detail::none;

/// The other end of an out-edge as a row: the most there is of anything here, so four bytes.
class Successor {
 public:
  static constexpr RowIndex rows_max = (RowIndex{1} << 30) - 1;

  Successor() = default;
  /// no_row: the successor is in another shard.
  Successor(RowIndex row, detail::EdgeKind kind)
      : bits_(std::min(row, rows_max) | static_cast<std::uint32_t>(kind) << 30) {}
  RowIndex row() const {
    const RowIndex row = bits_ & rows_max;
    return row == rows_max ? no_row : row;
  }
  detail::EdgeKind kind() const { return static_cast<detail::EdgeKind>(bits_ >> 30); }
  bool operator==(const Successor&) const = default;

 private:
  std::uint32_t bits_ = rows_max;
};

/// The tasks of a job's graph that lie in a shard.
struct Sharding {
  std::span<const ShardIndex> shard_of;
  std::uint32_t shard = 0;
};

/// Properties of a row that the graph alone decides. A ghost has the first two only.
namespace row_flag {
enum : std::uint8_t {
  plain = 1,  ///< becomes ready by itself: an ordinary task with strong edges only, and nothing special
  /// Plain, and no condition is evaluated where it ran: a lane may end it (Row::ends_by_itself).
  ends_by_itself = 2,
  home_waits = 4,  ///< Row::home_waits
  awaited = 8,     ///< Row::awaited
  // The home's notes have these under the same names (home_state.hpp).
  kept = 16,
  lean = 32,
  presses = 64,
  elsewhere = 128,
};
}

struct Program {
  RowIndex rows = 0;    ///< tasks of the shard, in their order
  RowIndex ghosts = 0;  ///< rows from `rows` on: predecessors of other shards, in the order of tasks
  /// Per row its task, and per task its row (no_row: neither it nor a successor is ours). Empty when every
  /// task is a row: then both numbers are the same.
  std::vector<std::uint32_t> task_of;
  std::vector<RowIndex> row_of;
  std::vector<std::uint8_t> flags;  ///< per row
  std::vector<RowIndex> roots;      ///< rows without predecessors
  /// Per row (and one more): where its successors begin in `out`. They are in the order of their edges; but
  /// rows with successors in other shards come first, since the first row that becomes ready runs at once.
  std::vector<std::uint32_t> first_out;
  std::vector<Successor> out;
  /// Per row (and one more): where its predecessors begin in `in`, rows too, in the order of its edges; a
  /// ghost has none. Empty when every task is a row: then the fragment has them.
  std::vector<std::uint32_t> first_in;
  std::vector<detail::EdgeEnd> in;
  struct Conditional {
    RowIndex row = 0;        ///< the predecessor
    std::uint32_t edge = 0;  ///< its place in the fragment
    std::uint32_t code = 0;
  };
  std::vector<Conditional> conditionals;  ///< sorted by row, then by edge
  /// Per row (and one more): where its shards begin in `other_shards`. For a row of ours the shards of its
  /// successors, sorted; for a ghost its own. Empty when there are no other shards.
  std::vector<std::uint32_t> first_other;
  std::vector<ShardIndex> other_shards;

  RowIndex size() const { return rows + ghosts; }
  std::span<const Successor> successors(RowIndex row) const {
    return {out.data() + first_out[row], out.data() + first_out[row + 1]};
  }
  std::span<const ShardIndex> others(RowIndex row) const {
    if (first_other.empty()) return {};
    return {other_shards.data() + first_other[row], other_shards.data() + first_other[row + 1]};
  }
  std::span<const Conditional> conditionals_of(RowIndex row) const;
  /// Edges to rows here, and other shards with successors.
  std::uint32_t readers(RowIndex row) const;
};

/// No sharding: every task is a row.
std::shared_ptr<const Program> make_program(const detail::Fragment& graph,
                                            const Sharding* sharding = nullptr);

}  // namespace dag
