#pragma once
// The lease of a process on the job's record, under which it runs tasks that must not run twice at the same
// time. It holds for `length` from when the last answered question was *sent*; the answering leader knows
// then that the process is a member of the job, and that no other process leads the record.
//
//   held --a quarter of it has passed--> asks --answered--> held
//                                          |
//                                          +--seven eighths have passed--> ends itself, and what it runs
//
// A process that is removed from the job gets no answers any more. So a home that hears of the removal, and
// waits for reissue_after(length), starts a task again when the other process has ended, if clocks run alike
// (drift) and that process is not held up between its last look at the clock and its end. The eighth is for
// the way from there to the end.
//
// Source: Gray and Cheriton, "Leases", SOSP 1989, section 2; the term counts from the sending as there.

#include <cstdint>
#include <map>
#include <optional>

#include "libdag/base/time.hpp"

namespace dag {

/// Long enough for a leader to be missed and another to be elected within the rest of it.
inline constexpr Duration exclusive_lease = std::chrono::seconds(5);

/// Counted from when no question is answered any more.
constexpr Duration reissue_after(Duration length) {
  return length + length * 3 / 100 + std::chrono::milliseconds(50);
}

/// The holder's side.
class Lease {
 public:
  explicit Lease(Duration length) : length_(length) {}

  /// True: there is something to run under it.
  void want(bool wanted) { wanted_ = wanted; }
  /// Another process may answer now.
  void ask_at_once() { asked_.reset(); }
  /// A question to send, when it is time for one.
  std::optional<std::uint64_t> question(Instant now);
  void answered(std::uint64_t number);

  /// True: tasks may start under it.
  bool held(Instant now) const { return now < over_at(); }
  /// When tasks under it must have ended.
  Instant over_at() const { return granted_ ? *granted_ + length_ * 7 / 8 : Instant{}; }
  /// The time of the next question; none when the lease is not wanted.
  std::optional<Instant> ask_at() const;

 private:
  const Duration length_;
  bool wanted_ = false;
  std::uint64_t number_ = 0;
  std::map<std::uint64_t, Instant> open_;  ///< questions, and when they were sent
  std::optional<Instant> asked_;           ///< the last of them
  std::optional<Instant> granted_;         ///< when the last answered question was sent
};

}  // namespace dag
