#pragma once
// Attempts that were told to stop, and whose kernels may run on. The next attempt of the row waits for their
// ends: of a pure task not for long, since two kernels of it at a time do no harm.

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "libdag/base/ids.hpp"
#include "libdag/base/time.hpp"
#include "libdag/rows/row_table.hpp"

namespace dag {

/// Limit of that waiting for a pure task.
inline constexpr Duration pure_waits_max = std::chrono::seconds(2);

class StoppedAttempts {
 public:
  struct One {
    AttemptId id;
    Life runner;
    Instant until{Duration::max()};  ///< nobody waits longer
  };

  void add(RowIndex row, One one) { stopping_[row].push_back(one); }
  /// True: one of the row's may still run at one of `lives`, which are sorted.
  bool holds(RowIndex row, const std::vector<Life>& lives, Instant now) const;
  bool has_any(RowIndex row) const { return stopping_.contains(row); }
  /// Notes the end of an attempt. True: no stopped attempt of its row is left.
  bool ended(RowIndex row, Life runner, AttemptId id);
  /// Forgets those that ran at other lives than these, which are sorted. Returns their rows.
  std::vector<RowIndex> lives_left(const std::vector<Life>& lives);
  /// Forgets those that nobody waits for any longer. Returns their rows.
  std::vector<RowIndex> take_due(Instant now);
  std::optional<Instant> wake_at() const;
  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  std::vector<RowIndex> forget(const std::function<bool(const One&)>& is_over);

  std::map<RowIndex, std::vector<One>> stopping_;
};

}  // namespace dag
