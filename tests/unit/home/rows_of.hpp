#pragma once
// The rows of a graph as a home has them before anything has run; the test ends and settles them.

#include <memory>
#include <utility>

#include "libdag/home/home_rows.hpp"
#include "tests/unit/home/scripted.hpp"

namespace dag::test {

struct RowsOf {
  explicit RowsOf(detail::Fragment sealed, const Sharding* sharding = nullptr)
      : graph(std::make_shared<const detail::Fragment>(std::move(sealed))), rows(table, {1, 1}) {
    table.add(graph, make_program(*graph, sharding), {});
    rows.resize();
  }
  /// All predecessors have ended.
  void open(RowIndex row) {
    while (table.word(row).state == RowState::waiting) table.apply(row, PredecessorEnded{});
  }
  void end(RowIndex row, Outcome outcome = Outcome::finished) {
    table.apply(row, Closed{outcome});
    rows.set(row, flag::noted);
  }
  /// The row leaves bytes in its slot.
  void leave_output(RowIndex row) { table[row].output.store(detail::to_blob(std::uint64_t{row})); }
  void settle(RowIndex row) { rows.set(row, flag::sent | flag::settled); }

  std::shared_ptr<const detail::Fragment> graph;
  RowTable table;
  HomeRows rows;
};

/// The first life of the process.
constexpr Life life_of(std::uint32_t process) { return {ProcessId{process}, Incarnation{1}}; }

}  // namespace dag::test
