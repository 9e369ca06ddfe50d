#pragma once
// Attempts that earlier homes of the shard dispatched, as survivors report them: offers to count in place of
// new attempts, and which of them have ended or still run.

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/job/attempt.hpp"
#include "libdag/job/messages.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

class EarlierAttempts {
 public:
  /// A reported attempt that may count in place of a new one.
  struct Offer {
    OutcomeRecord record;  ///< outcome none and no spawned part: it still runs
    bool running = false;
    bool bytes = false;
    Life from;
  };
  using Offers = std::vector<Offer>;

  // ---- Offers
  /// A report may be repeated.
  void add(RowIndex row, Offer offer);
  const Offers& offers_of(RowIndex row) const;
  Offers take(RowIndex row);
  Offers take_running(RowIndex row) { return take_if(row, true); }
  Offers take_ended(RowIndex row) { return take_if(row, false); }
  /// Rows that had offers which were not taken all at once.
  std::vector<RowIndex> rows() const;

  // ---- Ends
  /// The attempt ended or was returned: a report that comes later may still call it running.
  void came_back(const OutputName& attempt) { came_back_.insert(attempt); }
  bool is_back(const OutputName& attempt) const { return came_back_.contains(attempt); }
  /// The attempt was stopped because its group restarted: its end does not count.
  void overtake(const OutputName& attempt);
  bool is_overtaken(const OutputName& attempt) const { return overtaken_.contains(attempt); }

  // ---- Rows of which others know more than this home
  /// An earlier home had the row run again. The attempt cannot be told to end.
  void runs(RowIndex row, Life at, const OutputName& attempt) { running_[row] = {at, attempt}; }
  /// True if that may go on. `lives` are sorted.
  bool still_runs(RowIndex row, const std::vector<Life>& lives) const;
  /// The row has ended by a report, while here it has not.
  void ended_elsewhere(RowIndex row) { ended_elsewhere_.insert(row); }
  std::set<RowIndex> take_ended_elsewhere() { return std::exchange(ended_elsewhere_, {}); }

  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  Offers take_if(RowIndex row, bool running);

  std::map<RowIndex, Offers> offers_;
  std::set<OutputName> came_back_;
  std::set<OutputName> overtaken_;  ///< some of came_back_
  std::map<RowIndex, std::pair<Life, OutputName>> running_;
  std::set<RowIndex> ended_elsewhere_;
};

}  // namespace dag
