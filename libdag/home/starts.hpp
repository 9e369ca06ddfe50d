#pragma once
// Starts of rows that must not run again, or not at the same time. Such a row starts when its start is
// settled; a later home knows by the record that it was started. An exclusive row that was started before
// and lost starts again when no process can be running it any more: when the lease of the lost process is
// over.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

class Starts {
 public:
  /// At most one start more than there are lanes is open: if the process is lost, nobody knows whether those
  /// rows ran.
  explicit Starts(std::uint32_t lanes) : lanes_(lanes) {}

  // ---- Starts that are settled
  /// An earlier home started the row, by the record.
  void begun_before(RowIndex row) { starts_[row] = {}; }
  /// The start of the row is sent to the cell.
  void begin(RowIndex row);
  bool begun(RowIndex row) const { return starts_.contains(row); }
  /// The row ended, or became others, which may have to start, too.
  void ended(RowIndex row);
  /// The attempt that was started will not end. `lost`: it may have run.
  void taken_back(RowIndex row, bool lost);
  /// False: an attempt of the row may have run, and nobody has it any more.
  bool may_run(RowIndex row) const { return starts_.at(row).may_run; }
  /// True: one more start may be open.
  bool has_room() const { return open_ <= lanes_; }
  void await_room(RowIndex row) { waiting_.insert(row); }
  /// The next row that waits for room, if there is room; no_row: none.
  RowIndex take_next();

  // ---- Leases of exclusive rows
  /// The shard is counted again: these lives may run attempts of earlier homes until the time is over.
  void recounted(const std::vector<Life>& lives, Instant leases_over);
  /// `lives`, sorted, are those that are left.
  void lives_left(const std::vector<Life>& lives, Instant leases_over);
  /// The process that had the row is lost.
  void lost(RowIndex row, Instant leases_over) { leases_over_at_[row] = leases_over; }
  struct Wish {
    RowIndex row = no_row;
    /// The row has ended, and its output is to be made again: the record does not have such a start.
    bool again = false;
    /// A process runs an attempt of an earlier home to make the output again. It cannot be told to end.
    bool runs_elsewhere = false;
  };
  /// True: the row may still run at a process that is lost. It is looked at again when the lease is over.
  bool waits_for_lease(const Wish& wish, Instant now);
  /// The rows whose wait is over.
  std::vector<RowIndex> take_leases_over(Instant now);
  std::optional<Instant> wake_at() const;

  bool awaits_room(RowIndex row) const { return waiting_.contains(row); }
  bool awaits_lease(RowIndex row) const { return leases_awaited_.contains(row); }
  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  struct Start {
    bool ours = false;     ///< an earlier home did not start it, and it has not ended
    bool may_run = false;  ///< it has not run, as far as is known here
  };

  const std::uint32_t lanes_;
  std::map<RowIndex, Start> starts_;
  std::uint32_t open_ = 0;  ///< starts of ours that have not ended
  std::set<RowIndex> waiting_;
  /// Leases of lost processes, under which exclusive rows may still run: for rows that an earlier home
  /// started, for rows that this one did, and for the rows that wait.
  Instant earlier_over_at_;
  std::map<RowIndex, Instant> leases_over_at_, leases_awaited_;
  std::set<Life> of_earlier_homes_;  ///< lives that may run attempts this home does not know of
};

}  // namespace dag
