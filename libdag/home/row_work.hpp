#pragma once
// Work on rows that is to be done before an event is over. It is found in the middle of a change of other
// rows, and put off until that is complete. So rows change one after another, and a chain of consequences
// may be as long as the graph. Each kind of work comes out in the order in which it was put in; the home
// knows which kind comes first (Home::Impl::finish_event).

#include <deque>
#include <optional>
#include <span>

#include "libdag/base/check.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

class RowWork {
 public:
  /// A row that another row became has ended, so the other one ends.
  struct EndOfHead {
    RowIndex head = no_row;
    RowIndex tail = no_row;
  };

  /// The row may start, or end without a start: decide.cpp.
  void decide(RowIndex row) { to_decide_.push_back(row); }
  void decide(std::span<const RowIndex> rows) {
    to_decide_.insert(to_decide_.end(), rows.begin(), rows.end());
  }
  /// The cell may be told of the row: outcomes.cpp.
  void send(RowIndex row) { to_send_.push_back(row); }
  /// The row is ready, no lane was told of it, and it may go to another process: placing.cpp.
  void place(RowIndex row) { to_place_.push_back(row); }
  void end_head(RowIndex head, RowIndex tail) { heads_.push_back({head, tail}); }

  /// no_row: there is none.
  RowIndex take_to_decide() { return take(to_decide_); }
  RowIndex take_to_send() { return take(to_send_); }
  RowIndex take_to_place() { return take(to_place_); }
  std::optional<EndOfHead> take_head() {
    if (heads_.empty()) return std::nullopt;
    const EndOfHead first = heads_.front();
    heads_.pop_front();
    return first;
  }

  /// After an event. Throws Bug when a rule is broken.
  void check_invariants() const {
    DAG_CHECK(to_decide_.empty());
    DAG_CHECK(to_send_.empty());
    DAG_CHECK(to_place_.empty());
    DAG_CHECK(heads_.empty());
  }

 private:
  static RowIndex take(std::deque<RowIndex>& rows) {
    if (rows.empty()) return no_row;
    const RowIndex first = rows.front();
    rows.pop_front();
    return first;
  }

  std::deque<RowIndex> to_decide_;
  std::deque<RowIndex> to_send_;
  std::deque<RowIndex> to_place_;
  std::deque<EndOfHead> heads_;
};

}  // namespace dag
