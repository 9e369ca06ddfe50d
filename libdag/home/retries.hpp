#pragma once
// How often rows were tried, whether they are tried again, and when the next try may begin. Tries that
// failed, and those that took their process down (crashes.hpp), are charged to the row; lost ones are
// counted.

#include <optional>
#include <unordered_map>
#include <vector>

#include "libdag/home/crashes.hpp"
#include "libdag/supervision/retry.hpp"
#include "libdag/supervision/timer_wheel.hpp"

namespace dag {

class Retries {
 public:
  /// `gives_up_early`: dead processes are not replaced (JobPlan::quarantine).
  Retries(const HomeRows& rows, const Crashes& crashes, bool gives_up_early)
      : rows_(rows), crashes_(crashes), gives_up_early_(gives_up_early), pauses_(Instant{}) {}

  // ---- Tries
  /// True: a try of the row ended otherwise than by its return, as far as is known here.
  bool any(RowIndex row) const { return tries_.contains(row); }
  /// Tries that failed, without crashes.
  std::uint32_t failed(RowIndex row) const;
  std::uint32_t charged(RowIndex row) const { return failed(row) + crashes_.times(row); }
  /// The error of the newest try that another one followed, for people; nullptr: none is known.
  const Error* newest_failure(RowIndex row) const;
  /// True: the row has crashed processes, and has no try left.
  bool crashed_too_often(RowIndex row) const;

  /// A try failed: counts it, and decides whether another one follows.
  NextTry on_failed(RowIndex row, const Error& why, Random& random);
  /// A try was lost, or came back. False: that happened too often.
  bool on_lost(RowIndex row, Random& random);
  /// An earlier home recorded so many that failed.
  void recorded(RowIndex row, std::uint32_t failed) { tries_[row].failed = failed; }
  /// The tries were on inputs that do not count, so they do not count either. True: some had failed.
  bool forget_failed(RowIndex row);

  // ---- Pauses before the next try
  void pause(RowIndex row, Instant until) { pauses_.schedule(row, until); }
  /// The row has crashed once more: a pause begins unless there is one. True: there is a pause.
  bool pause_after_crash(RowIndex row, Instant now, Random& random);
  bool is_pausing(RowIndex row) const { return pauses_.contains(row); }
  std::optional<Instant> pause_over_at(RowIndex row) const { return pauses_.due_at(row); }
  void end_pause(RowIndex row) { pauses_.cancel(row); }
  /// Rows whose pause is over.
  std::vector<RowIndex> take_due(Instant now) { return pauses_.advance(now); }
  std::optional<Instant> wake_at() const { return pauses_.wake_at(); }

  /// Throws Bug when a rule is broken.
  void check_invariants() const;

 private:
  const HomeRows& rows_;
  const Crashes& crashes_;
  const bool gives_up_early_;
  std::unordered_map<RowIndex, Tries> tries_;
  std::unordered_map<RowIndex, Error> newest_failure_;
  TimerWheel<RowIndex> pauses_;
};

}  // namespace dag
